import * as z from 'zod'
import { TooldexError } from '../../base/errors.ts'
import { JsonText } from '../../base/json-text.ts'
import { lazyModule } from '../../base/lazy-module.ts'
import type { Execution } from '../../contract/execution.ts'
import { RunOutcome, RunPlan, StoredResult } from '../../contract/run.ts'
import { isBuiltin } from '../../rules/builtin-names.ts'
import type { ExecuteOptions } from '../../runs/draft-execution.ts'
import type { MemoryResults } from '../../runs/memory-results.ts'
import { defaultRunSettings } from '../../runs/settings.ts'
import { shapeOutput } from '../../runs/shape-output.ts'
import { invoke } from '../invoke.ts'
import { defineOperation, type OperationContext } from '../operation.ts'
import { requireSignIn, signInError } from '../sources/require-sign-in.ts'
import { answerOfExecution } from './execution-result.ts'
import { ApprovalBy, approvalOf, type ResolvedCall, resolveCall } from './resolve-call.ts'

const loadBuiltins = lazyModule(() => import('./builtins.ts'))
const loadExecuteCall = lazyModule(() => import('./execute-call.ts'))
const loadProgramCalls = lazyModule(() => import('./program-calls.ts'))

const notes = {
  tool: z.string(),
  /** Notes for the caller of this tool. */
  warning: z.string().optional(),
}

const Ended = z.object({
  ...notes,
  outcome: RunOutcome,
  executionId: z.string().optional(),
  /** The handle of a large output. */
  stored: StoredResult.optional(),
})
const Planned = z.object({ ...notes, plan: RunPlan, needsApproval: z.boolean(), approvalBy: ApprovalBy })
const Waiting = z.object({
  ...notes,
  executionId: z.string(),
  /** The reason for which a call waits. */
  waitsFor: z.enum(['approval', 'result']),
  expiresAt: z.string().nullable(),
})

/** The response to a call: its outcome, its plan, or the reason it waits. */
export type CallAnswer = z.infer<typeof Ended> | z.infer<typeof Planned> | z.infer<typeof Waiting>

const Input = z.object({
  name: z.string().min(1),
  arguments: z.record(z.string(), z.unknown()).nullish(),
  version: z.union([z.int().min(1), z.string().regex(/^\d{1,9}$/)]).nullish(),
  idempotencyKey: z.string().min(1).max(200).nullish(),
  dryRun: z.boolean().nullish(),
  timeoutMs: z.int().min(1).nullish(),
})

/** Calls a tool by name. */
export const callTool = defineOperation({
  name: 'tools.call',
  summary: 'Call a tool, or with dryRun return the plan of the call.',
  scope: 'call',
  needs: ['catalog', 'keys', 'memory', 'metrics?', 'registry?', 'results?', 'runner', 'runs?', 'sources?'],
  input: Input,
  output: z.union([Ended, Planned, Waiting]),
  async handle(input, context): Promise<CallAnswer> {
    const args = input.arguments ?? {}
    // Built-in tools, which are not listed.
    if (isBuiltin(input.name))
      return (await loadBuiltins()).callBuiltin(input.name, args, (operation, request) =>
        invoke(operation, request, context),
      )
    const call = await resolveCall(context, input.name, input.version == null ? undefined : Number(input.version))
    const about = { tool: call.tool.name, ...(call.warning === undefined ? {} : { warning: call.warning }) }
    if (input.dryRun) {
      const options = { timeoutMs: input.timeoutMs ?? undefined, workspace: context.caller.workspace }
      const plan = await context.runner.plan(call.tool, args, options)
      return { ...about, plan, ...approvalOf(call) }
    }
    if (call.approvalBy.length > 0 && context.runs === undefined) throw nobodyToAsk(call)
    const { runs } = context
    const ran = runs === undefined ? runInline(call, input, context) : runRecorded(call, input, { ...context, runs })
    const answer = await ran
    const { source } = call.tool
    // The link of the caller is in the response only: records are read by others, too.
    if ('outcome' in answer && answer.outcome.errorCode === 'SIGN_IN_REQUIRED' && source !== undefined)
      throw await signInError(context, source.name)
    return { ...about, ...answer }
  },
})

const nobodyToAsk = ({ tool }: ResolvedCall): TooldexError =>
  new TooldexError('POLICY_REFUSED', `Each call of ${tool.name} requires approval, which cannot be given here.`, {
    hint: 'Call it through a server (tooldex serve), where calls wait until somebody approves them.',
  })

type Given = z.infer<typeof Input>
type InlineContext = OperationContext<'catalog' | 'keys' | 'memory' | 'registry?' | 'results?' | 'runner' | 'sources?'>
type RecordedContext = OperationContext<
  'catalog' | 'memory' | 'metrics?' | 'registry?' | 'runner' | 'runs' | 'sources?'
>

/** Without a database nothing is recorded; large outputs are kept in this process for a while. */
async function runInline({ tool, id }: ResolvedCall, input: Given, context: InlineContext) {
  const { runner, keys, signal, onProgress, onOutput, callerInput, results, trace } = context
  const args = input.arguments ?? {}
  await requireSignIn(context, tool)
  const run = async () => {
    const { workspace, actor: caller } = context.caller
    const options = { timeoutMs: input.timeoutMs ?? undefined, traceparent: trace?.traceparent, workspace, caller }
    const program = tool.executorType === 'program' ? (await loadProgramCalls()).programControls(context) : {}
    const controls = { signal, onProgress, onOutput, callerInput, ...options, ...program }
    const outcome = await runner.run(tool, args, controls)
    return results === undefined ? { outcome: whole(outcome) } : keepLarge(outcome, results)
  }
  const response = await keys.run(input.idempotencyKey ?? undefined, [tool.name, args], run)
  if (response.outcome.status === 'SUCCESS') context.memory.noteSuccess(context.caller, id)
  return response
}

/** A command in a terminal prints the whole output, whatever its size. */
const whole = (outcome: RunOutcome): RunOutcome =>
  outcome.output instanceof JsonText ? { ...outcome, output: JSON.parse(outcome.output.json) } : outcome

/** The beginning of a large output, and the handle of the rest. */
async function keepLarge(outcome: RunOutcome, results: MemoryResults) {
  const { outcome: storable, outputData, logs, stored } = await shapeOutput(outcome, false, defaultRunSettings)
  if (stored === null) return { outcome: storable.status === outcome.status ? whole(outcome) : storable }
  const stdout = outcome.output === undefined ? String(outputData) : logs.stdout
  const result = { ...outcome.result, stdout }
  const preview = { ...outcome, result, ...(outcome.output === undefined ? {} : { output: outputData }) }
  return { outcome: preview, stored: results.keep(stored) }
}

async function runRecorded(call: ResolvedCall, input: Given, context: RecordedContext) {
  const { executeCall } = await loadExecuteCall()
  const { onProgress, onOutput, callerInput, trace } = context
  const execution = await respondWithin(context, (controls) =>
    executeCall(context, call, input.arguments ?? {}, {
      wait: true,
      onProgress,
      onOutput,
      callerInput,
      timeoutMs: input.timeoutMs ?? undefined,
      idempotencyKey: input.idempotencyKey ?? undefined,
      ...controls,
      ...trace,
    }),
  )
  return answerOfExecution(execution)
}

type RecordedControls = Pick<ExecuteOptions, 'signal' | 'onRecorded'>

/** Returns the recorded call when the time of the caller is over; the run then continues without the caller. */
async function respondWithin(
  { signal, respondMs }: OperationContext,
  run: (controls: RecordedControls) => Promise<Execution>,
): Promise<Execution> {
  if (respondMs === undefined) return run({ signal })
  const attached = new AbortController()
  const abort = () => attached.abort(signal?.reason)
  if (signal?.aborted) abort()
  signal?.addEventListener('abort', abort, { once: true })
  let onRecorded: RecordedControls['onRecorded']
  const recorded = new Promise<Execution>((resolve) => {
    onRecorded = resolve
  })
  const ended = run({ signal: attached.signal, onRecorded })
  // An aborted wait would create an error with each call.
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, respondMs)
  }).then(() => recorded)
  try {
    return await Promise.race([ended, late])
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', abort)
    for (const rest of [ended, late]) rest.catch(() => {})
  }
}
