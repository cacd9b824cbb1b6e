import type { Execution } from '../../contract/execution.ts'
import type { ExecuteOptions } from '../../runs/draft-execution.ts'
import type { OperationContext } from '../operation.ts'
import { requireSignIn } from '../sources/require-sign-in.ts'
import { limitsOf } from './call-limits.ts'
import { programControls } from './program-calls.ts'
import { approvalOf, type ResolvedCall, recheckOf } from './resolve-call.ts'

/** Runs and records a call, for every operation that calls a tool; a success is learned for the query that led to it. */
export async function executeCall(
  context: OperationContext<'catalog' | 'memory' | 'metrics?' | 'registry?' | 'runner' | 'runs' | 'sources?'>,
  call: ResolvedCall,
  input: Readonly<Record<string, unknown>>,
  options: Omit<ExecuteOptions, 'needsApproval' | 'recheck' | 'limits'>,
): Promise<Execution> {
  await requireSignIn(context, call.tool)
  const { needsApproval } = approvalOf(call)
  const recheck = recheckOf(context, call, input)
  const { caller, memory, parentId } = context
  const limits = await limitsOf(context, call.tool.name)
  const program = call.tool.executorType === 'program' ? programControls(context, options.onRecorded) : {}
  const all = { ...options, needsApproval, recheck, limits, parentId, ...program }
  const execution = await context.runs.execute(caller, call.tool, input, all)
  memory.noteCall(caller, call.id, execution)
  return execution
}
