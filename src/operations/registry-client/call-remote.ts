import { randomUUID } from 'node:crypto'
import { TooldexError } from '../../base/errors.ts'
import type { Execution } from '../../contract/execution.ts'
import { describedParse } from '../../diagnostics/zod-issues.ts'
import { followEvents } from '../../http-client/follow-events.ts'
import { isBuiltin } from '../../rules/builtin-names.ts'
import { isFinal } from '../../rules/is-final.ts'
import { invalidInputError } from '../invoke.ts'
import { callBuiltin } from '../runs/builtins.ts'
import { type CallAnswer, callTool } from '../runs/call-tool.ts'
import { executeTool } from '../runs/execute.ts'
import { answerOfExecution } from '../runs/execution-result.ts'
import { cancelExecution, getExecution } from '../runs/executions.ts'
import { RunEvent } from '../runs/follow.ts'
import type { CallControls, RecordedCall } from './registry-client.ts'
import { invokeRemote, type RemoteServer } from './remote-client.ts'

// After an abort, the cancellation and its repetitions get this long; a run whose cancellation is lost continues.
const cancelMs = 15_000
/** The number of further attempts for a call or a cancellation whose response was lost. */
const retries = 3

/** Calls a tool on a server: queues it there and follows it until it has ended. */
export async function callRemoteTool(
  server: RemoteServer,
  call: RecordedCall,
  controls: CallControls,
  signal: AbortSignal,
): Promise<CallAnswer> {
  const { name: idOrName, arguments: args, version, ...options } = await readCall(call)
  const input = args ?? {}
  if (isBuiltin(idOrName))
    return callBuiltin(idOrName, input, (operation, request) => invokeRemote(server, operation, request, { signal }))
  const request = { idOrName, input, ...present({ version: version && Number(version), ...options }) }
  const begun = await begin(server, request, { retries, pauseSignal: signal, onPause: controls.onPause })
  const about = { tool: begun.toolName, ...(begun.warning === undefined ? {} : { warning: begun.warning }) }
  if ('dryRun' in begun) {
    const { plan, needsApproval, approvalBy } = begun
    return { ...about, plan, needsApproval, approvalBy }
  }
  return { ...about, ...answerOfExecution(await untilEnded(server, begun, controls, signal)) }
}

/** Validates the call before it is sent: the server uses other field names, so its errors would not match the input. */
async function readCall(call: RecordedCall) {
  const parsed = callTool.input.safeParse(call, describedParse)
  if (parsed.success) return parsed.data
  throw await invalidInputError(callTool, { input: call, issues: parsed.error.issues })
}

const present = (fields: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value != null))

/**
 * Creates the execution. Its idempotency key allows a retry after a lost response without a second run. The request is not
 * aborted with the call: otherwise the id of the execution to cancel would be lost. A pause that a limit requests is.
 */
const begin = (server: RemoteServer, call: Record<string, unknown>, options: Parameters<typeof invokeRemote>[3]) =>
  invokeRemote(server, executeTool, call.dryRun === true ? call : { idempotencyKey: randomUUID(), ...call }, options)

async function untilEnded(
  server: RemoteServer,
  begun: Execution,
  controls: CallControls,
  signal: AbortSignal,
): Promise<Execution> {
  if (isFinal(begun.status)) return begun
  if (begun.reason === 'approval' && !controls.waitForApproval) return begun
  const patience = startPatience(begun, controls)
  const late = controls.respondMs === undefined ? [] : [AbortSignal.timeout(controls.respondMs)]
  let now = begun
  let bytes = 0
  try {
    for await (const event of followRemoteRun(server, begun.id, AbortSignal.any([signal, patience.signal, ...late]))) {
      if (event.event === 'end') return event.execution
      if (event.event === 'output') {
        bytes += Buffer.byteLength(event.text)
        controls.onOutput(event.stream, event.text)
        controls.onProgress?.(bytes)
      } else {
        if (event.execution.reason !== 'queued') patience.end()
        now = event.execution
        controls.onStatus(now)
      }
    }
  } finally {
    patience.end()
  }
  if (!signal.aborted && !patience.signal.aborted) return now
  if (!signal.aborted) return { ...begun, errorCode: 'STILL_QUEUED', errorMessage: patience.message }
  return cancelRemote(server, begun.id)
}

/** A run that has ended meanwhile is returned as it ended. */
async function cancelRemote(server: RemoteServer, id: string): Promise<Execution> {
  const options = { signal: AbortSignal.timeout(cancelMs), retries }
  try {
    return await invokeRemote(server, cancelExecution, { id }, options)
  } catch (thrown) {
    if (!(thrown instanceof TooldexError) || thrown.code !== 'ILLEGAL_STEP') throw thrown
    return invokeRemote(server, getExecution, { id }, options)
  }
}

/** The time a queued call waits for a worker: the limit of the caller plus the time limit of the run. */
function startPatience({ timeoutMs }: Execution, { patienceMs }: CallControls) {
  const over = new AbortController()
  const ms = (patienceMs ?? 0) + (timeoutMs ?? 0)
  const timer = patienceMs === undefined ? undefined : setTimeout(() => over.abort(), ms)
  const message = `No worker started the call within ${Math.round(ms / 1000)} s; it is still queued.`
  return { signal: over.signal, message, end: () => clearTimeout(timer) }
}

/** Follows a run on a server until it has ended, or until the signal is aborted. */
export async function* followRemoteRun(
  server: RemoteServer,
  id: string,
  signal: AbortSignal,
): AsyncGenerator<RunEvent> {
  try {
    for await (const event of followEvents(server, id, signal)) {
      const { success, data } = RunEvent.safeParse(event)
      if (success) yield data
    }
  } catch (thrown) {
    if (!signal.aborted) throw thrown
  }
}
