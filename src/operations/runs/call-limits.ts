import { countersOf, limitExceeded } from '../../rules/limit-rules.ts'
import type { CallLimits } from '../../runs/draft-execution.ts'
import type { OperationContext } from '../operation.ts'

/** The counting of a call toward the limits of its caller, tool and toolsets; undefined where none applies. */
export async function limitsOf(
  { catalog, registry, caller, metrics }: OperationContext<'catalog' | 'registry?' | 'metrics?'>,
  tool: string,
): Promise<CallLimits | undefined> {
  if (registry === undefined) return undefined
  const { workspace } = caller
  const store = registry.stores.limits
  const counters = countersOf(catalog.limits ?? (await store.list(workspace)), caller, tool)
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
