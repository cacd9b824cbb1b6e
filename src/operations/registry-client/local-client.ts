import { lazyModule } from '../../base/lazy-module.ts'
import { invoke } from '../invoke.ts'
import type { PartialContext } from '../operation.ts'
import type { CallAnswer } from '../runs/call-tool.ts'
import type { RunEvent } from '../runs/follow.ts'
import type { CallControls, RecordedCall, RegistryClient } from './registry-client.ts'

const loadCallTool = lazyModule(() => import('../runs/call-tool.ts'))
const loadExecutionResult = lazyModule(() => import('../runs/execution-result.ts'))
const loadFollow = lazyModule(() => import('../runs/follow.ts'))

/** Runs operations in this process. */
export function createLocalClient(context: PartialContext): RegistryClient {
  return {
    invoke: (operation, input, { signal = context.signal, trace = context.trace } = {}) =>
      invoke(operation, input, { ...context, signal, trace }),
    call: (call, controls) => callLocal(context, call, controls),
    follow: (id) => followLocal(context, id),
    close: async () => {},
  }
}

async function callLocal(context: PartialContext, call: RecordedCall, controls: CallControls): Promise<CallAnswer> {
  const { onOutput, onProgress, respondMs, signal = context.signal, trace = context.trace } = controls
  const { callTool } = await loadCallTool()
  const response = await invoke(callTool, call, { ...context, onOutput, onProgress, respondMs, signal, trace })
  if (!('waitsFor' in response) || response.waitsFor !== 'approval' || !controls.waitForApproval) return response
  const { answerOf } = await loadExecutionResult()
  const { executionId, waitsFor: _what, expiresAt: _when, ...rest } = response
  for await (const event of followLocal({ ...context, signal }, executionId)) {
    if (event.event === 'end') return { ...rest, ...answerOf(event.execution) }
    if (event.event === 'output') onOutput(event.stream, event.text)
    else controls.onStatus(event.execution)
  }
  return response
}

async function* followLocal(context: PartialContext, id: string): AsyncGenerator<RunEvent> {
  const { followExecution } = await loadFollow()
  const signal = context.signal ?? new AbortController().signal
  for await (const event of followExecution(context, id, 0, signal)) if (event !== undefined) yield event
}
