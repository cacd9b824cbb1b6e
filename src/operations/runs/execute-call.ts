import type { Execution } from '../../contract/execution.ts'
import { countersOfLimits, limitExceeded } from '../../rules/limit-rules.ts'
import type { CallLimits, ExecuteOptions } from '../../runs/draft-execution.ts'
import type { OperationContext } from '../operation.ts'
import { requireSignIn } from '../sources/require-sign-in.ts'
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

/** The counting of a call toward the limits of its caller, tool and toolsets; undefined where none applies. */
async function limitsOf(
  { catalog, registry, caller, metrics }: OperationContext<'catalog' | 'registry?' | 'metrics?'>,
  tool: string,
): Promise<CallLimits | undefined> {
  if (registry === undefined) return undefined
  const { workspace } = caller
  const store = registry.stores.limits
  const counters = countersOfLimits(catalog.limits ?? (await store.list(workspace)), caller, tool)
  if (counters.length === 0) return undefined
  return {
    keys: counters.map(({ limit, subject }) => [limit.name, subject]),
    async take() {
      const refusal = await store.take(workspace, counters)
      if (refusal === undefined) return
      metrics?.refused(workspace, refusal)
      throw limitExceeded(refusal)
    },
    giveBack: () => store.giveBack(workspace, counters),
  }
}
