import { type CallAnswer, callTool } from '../operations/call-tool.ts'
import { invoke } from '../operations/invoke.ts'
import type { OperationContext } from '../operations/operation.ts'
import { answerOf } from '../operations/runs/execution-answer.ts'
import { followExecution, type RunEvent } from '../operations/runs/follow.ts'
import type { CallControls, RecordedCall } from '../surfaces/cli/index.ts'

/** Runs a tool in this process, recorded in the database that it has open. */
export async function callOwn(
  context: OperationContext,
  call: RecordedCall,
  controls: CallControls,
): Promise<CallAnswer> {
  const answer = await invoke(callTool, call, { ...context, onOutput: controls.onOutput })
  if (!('waitsFor' in answer) || !controls.waitForApproval) return answer
  const { executionId, waitsFor: _what, expiresAt: _when, ...about } = answer
  for await (const event of followOwn(context, executionId)) {
    if (event.event === 'end') return { ...about, ...answerOf(event.execution) }
    if (event.event === 'output') controls.onOutput(event.stream, event.text)
    else controls.onStatus(event.execution)
  }
  return answer
}

/** Follows a run in the database that this process has open. */
export async function* followOwn(context: OperationContext, id: string): AsyncGenerator<RunEvent> {
  const signal = context.signal ?? new AbortController().signal
  for await (const event of followExecution(context, id, 0, signal)) if (event !== undefined) yield event
}
