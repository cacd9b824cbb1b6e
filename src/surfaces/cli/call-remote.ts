import { type Execution, isFinal } from '../../contract/execution.ts'
import type { CallAnswer } from '../../operations/call-tool.ts'
import { callBuiltin, isBuiltin } from '../../operations/runs/builtins.ts'
import { executeTool } from '../../operations/runs/execute.ts'
import { answerOf } from '../../operations/runs/execution-answer.ts'
import { cancelExecution } from '../../operations/runs/executions.ts'
import { followRemote } from './follow-remote.ts'
import type { CallControls, RecordedCall } from './host.ts'
import { invokeRemote, type RemoteServer } from './remote.ts'

// Whoever presses Ctrl+C does not wait longer than this for the server to hear of it.
const cancelMs = 5000

/** Calls a tool at a server: puts it into the queue there, and follows it until it has ended. */
export async function callRemote(
  server: RemoteServer,
  { name: idOrName, arguments: input, ...options }: RecordedCall,
  controls: CallControls,
  signal: AbortSignal,
): Promise<CallAnswer> {
  if (isBuiltin(idOrName))
    return callBuiltin(idOrName, input, (operation, asked) => invokeRemote(server, operation, asked, signal))
  const begun = await invokeRemote(server, executeTool, { idOrName, input, ...options }, signal)
  const about = { tool: begun.toolName, ...(begun.warning === undefined ? {} : { warning: begun.warning }) }
  if ('dryRun' in begun) {
    const { plan, needsApproval, approvalBy } = begun
    return { ...about, plan, needsApproval, approvalBy }
  }
  return { ...about, ...answerOf(await untilEnded(server, begun, controls, signal)) }
}

async function untilEnded(
  server: RemoteServer,
  begun: Execution,
  controls: CallControls,
  signal: AbortSignal,
): Promise<Execution> {
  if (isFinal(begun.status)) return begun
  if (begun.reason === 'approval' && !controls.waitForApproval) return begun
  for await (const event of followRemote(server, begun.id, signal)) {
    if (event.event === 'end') return event.execution
    if (event.event === 'output') controls.onOutput(event.stream, event.text)
    else controls.onStatus(event.execution)
  }
  return invokeRemote(server, cancelExecution, { id: begun.id }, AbortSignal.timeout(cancelMs))
}
