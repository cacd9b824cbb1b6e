import { TooldexError, toTooldexError } from '../../base/errors.ts'
import { isObject } from '../../base/json-values.ts'
import type { Execution } from '../../contract/execution.ts'
import { type ProgramAnswer, type ProgramCall, programEnded, type RunControls } from '../../contract/executor.ts'
import type { StoredResult } from '../../contract/run.ts'
import { runCodeName } from '../../rules/builtin-names.ts'
import type { OperationContext, PartialContext } from '../operation.ts'
import {
  type CallControls,
  createLocalClient,
  type RecordedCall,
  type RegistryClient,
} from '../registry-client/registry-client.ts'
import { describeTools } from '../search/describe-tools.ts'
import { searchTools } from '../search/search-tools.ts'
import type { CallAnswer } from './call-tool.ts'
import { cancelExecution } from './executions.ts'
import { readWholeResult } from './results.ts'

type Controls = Pick<CallControls, 'signal' | 'trace'> & { readonly signal: AbortSignal }

/** The controls of a program: each of its calls is made as its caller would make it, and recorded as its child. */
export function programControls(
  context: OperationContext,
  onRecorded?: (execution: Execution) => void,
): Pick<RunControls, 'answerCall'> & { readonly onRecorded: (execution: Execution) => void } {
  let parentId: string | undefined
  const clientOf = () => context.programClient ?? createLocalClient(callerOf(context, parentId))
  return {
    onRecorded(execution) {
      parentId = execution.id
      onRecorded?.(execution)
    },
    async answerCall(call, { signal, traceparent }) {
      const trace = { traceId: context.trace?.traceId, traceparent }
      try {
        return await answer(clientOf(), call, { signal, trace })
      } catch (thrown) {
        const { code, message, hint } = toTooldexError(thrown)
        return { error: { code, message: `${message} ${hint}`, tool: call.name } }
      }
    },
  }
}

/** The caller of a program without the controls of the request, which may end before the program. */
const callerOf = (context: OperationContext, parentId: string | undefined): PartialContext => ({
  ...context,
  parentId,
  present: undefined,
  respondMs: undefined,
  onOutput: undefined,
  onProgress: undefined,
  callerInput: undefined,
})

async function answer(client: RegistryClient, call: ProgramCall, controls: Controls): Promise<ProgramAnswer> {
  const input = isObject(call.input) ? { ...call.input } : {}
  if (call.kind === 'search') {
    const { results, summary } = await client.invoke(searchTools, input, controls)
    return { json: JSON.stringify(results ?? summary ?? []) }
  }
  if (call.kind === 'describe') {
    const { tools } = await client.invoke(describeTools, input, controls)
    return { json: JSON.stringify(Array.isArray(input.ids) ? tools : tools[0]) }
  }
  if (call.name === runCodeName)
    throw new TooldexError('FORBIDDEN', 'A program cannot run another program.', { hint: 'Call the tools themselves.' })
  const options = { ...controls, waitForApproval: false, onOutput: () => {}, onStatus: () => {} }
  return read(client, await client.call(toCall(call), options), controls)
}

/** The call with the options that a program may set; everything else is validated like any call. */
function toCall({ name, input, options }: ProgramCall): RecordedCall {
  const { version, idempotencyKey, timeoutMs } = isObject(options) ? options : {}
  return { name, arguments: input, version, idempotencyKey, timeoutMs } as RecordedCall
}

async function read(client: RegistryClient, called: CallAnswer, controls: Controls): Promise<ProgramAnswer> {
  const { tool } = called
  if ('waitsFor' in called) return toWaiting(client, called, controls)
  if ('plan' in called) return { json: JSON.stringify(called.plan) }
  const { outcome, stored, executionId } = called
  const { status, output, result, errorCode, errorMessage } = outcome
  if (status !== 'SUCCESS') {
    const message = [errorMessage ?? status, result.stderr.trim()].filter((part) => part !== '').join('\n')
    return {
      error: { code: errorCode ?? status, message: `${tool}: ${message.slice(0, maxMessage)}`, tool, executionId },
    }
  }
  if (stored !== undefined) return readWhole(client, stored, controls)
  return { json: JSON.stringify(output === undefined ? result.stdout : output) ?? 'null' }
}

const maxMessage = 4000

/** A program receives a large output as a whole. */
async function readWhole(client: RegistryClient, { handle }: StoredResult, controls: Controls): Promise<ProgramAnswer> {
  const { mediaType, content } = await client.invoke(readWholeResult, { handle }, controls)
  return { json: mediaType === 'application/json' ? content : JSON.stringify(content) }
}

type Waiting = Extract<CallAnswer, { waitsFor: unknown }>

/** A call that waits for approval goes on without the program, unless the program is cancelled or exceeds its deadline. */
function toWaiting(
  client: RegistryClient,
  { tool, executionId, waitsFor }: Waiting,
  { signal }: Controls,
): ProgramAnswer {
  const cancel = () => {
    if (signal.reason !== programEnded) void client.invoke(cancelExecution, { id: executionId }).catch(() => {})
  }
  if (signal.aborted) cancel()
  else signal.addEventListener('abort', cancel, { once: true })
  const state = waitsFor === 'approval' ? 'waits for approval by a person' : 'is still running'
  const message = `${tool} ${state}: execution ${executionId}. Read it later with tooldex:read_execution.`
  return { error: { code: waitsFor === 'approval' ? 'APPROVAL_NEEDED' : 'STILL_QUEUED', message, tool, executionId } }
}
