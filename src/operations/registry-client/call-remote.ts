import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { TooldexError } from '../../base/errors.ts'
import type { Execution } from '../../contract/execution.ts'
import { isFinal } from '../../contract/is-final.ts'
import { describedParse } from '../../diagnostics/zod-issues.ts'
import { invalidInput } from '../invalid-input.ts'
import { callBuiltin, isBuiltin } from '../runs/builtins.ts'
import { type CallAnswer, callTool } from '../runs/call-tool.ts'
import { executeTool } from '../runs/execute.ts'
import { answerOf } from '../runs/execution-result.ts'
import { cancelExecution } from '../runs/executions.ts'
import { followRemote } from './follow-remote.ts'
import type { CallControls, RecordedCall } from './registry-client.ts'
import { invokeRemote, type RemoteServer } from './remote-client.ts'

// A caller who gives up does not wait longer than this for the cancellation to arrive.
const cancelMs = 5000
/** How often a call is sent whose answer was lost, and the first pause between two. */
const sending = { tries: 4, pauseMs: 100 }

/** Calls a tool at a server: puts it into the queue there, and follows it until it has ended. */
export async function callRemote(
  server: RemoteServer,
  call: RecordedCall,
  controls: CallControls,
  signal: AbortSignal,
): Promise<CallAnswer> {
  const { name: idOrName, arguments: given, version, ...options } = await readCall(call)
  const input = given ?? {}
  if (isBuiltin(idOrName))
    return callBuiltin(idOrName, input, (operation, asked) => invokeRemote(server, operation, asked, signal))
  const begun = await begin(server, {
    idOrName,
    input,
    ...present({ version: version && Number(version), ...options }),
  })
  const about = { tool: begun.toolName, ...(begun.warning === undefined ? {} : { warning: begun.warning }) }
  if ('dryRun' in begun) {
    const { plan, needsApproval, approvalBy } = begun
    return { ...about, plan, needsApproval, approvalBy }
  }
  return { ...about, ...answerOf(await untilEnded(server, begun, controls, signal)) }
}

/** The server has other names for the parts of a call, so a wrong one is refused here, in the words of its caller. */
async function readCall(call: RecordedCall) {
  const parsed = callTool.input.safeParse(call, describedParse)
  if (parsed.success) return parsed.data
  throw await invalidInput(callTool, { input: call, issues: parsed.error.issues })
}

const present = (fields: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value != null))

/**
 * Makes the call. It has a key, so that it can be sent again where its answer was lost and is still made once. It is not
 * aborted with its request: then nobody would know which execution to cancel.
 */
async function begin(server: RemoteServer, call: Record<string, unknown>) {
  const keyed = call.dryRun === true ? call : { idempotencyKey: randomUUID(), ...call }
  const deadline = new AbortController().signal
  for (let tries = 1; ; tries++) {
    try {
      return await invokeRemote(server, executeTool, keyed, deadline)
    } catch (thrown) {
      // An answer that says UNAVAILABLE is one; a lost one has a cause.
      const isLost = thrown instanceof TooldexError && thrown.code === 'UNAVAILABLE' && thrown.cause !== undefined
      if (!isLost || tries === sending.tries) throw thrown
      await sleep(sending.pauseMs * 2 ** tries)
    }
  }
}

async function untilEnded(
  server: RemoteServer,
  begun: Execution,
  controls: CallControls,
  signal: AbortSignal,
): Promise<Execution> {
  if (isFinal(begun.status)) return begun
  if (begun.reason === 'approval' && !controls.waitForApproval) return begun
  const patience = startPatience(begun, controls)
  let bytes = 0
  try {
    for await (const event of followRemote(server, begun.id, AbortSignal.any([signal, patience.signal]))) {
      if (event.event === 'end') return event.execution
      if (event.event === 'output') {
        bytes += Buffer.byteLength(event.text)
        controls.onOutput(event.stream, event.text)
        controls.onProgress?.(bytes)
      } else {
        if (event.execution.reason !== 'queued') patience.end()
        controls.onStatus(event.execution)
      }
    }
  } finally {
    patience.end()
  }
  if (!signal.aborted) return { ...begun, errorCode: 'STILL_QUEUED', errorMessage: patience.message }
  return invokeRemote(server, cancelExecution, { id: begun.id }, AbortSignal.timeout(cancelMs))
}

/** How long a queued call waits for a worker: as long as the caller says, and as the run itself may take. */
function startPatience({ timeoutMs }: Execution, { patienceMs }: CallControls) {
  const over = new AbortController()
  const ms = (patienceMs ?? 0) + (timeoutMs ?? 0)
  const timer = patienceMs === undefined ? undefined : setTimeout(() => over.abort(), ms)
  const message = `No worker started the call within ${Math.round(ms / 1000)} s; it is still queued.`
  return { signal: over.signal, message, end: () => clearTimeout(timer) }
}
