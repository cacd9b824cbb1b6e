import * as z from 'zod'
import { defineOperation, type OperationContext } from '../operation.ts'
import { readableNames } from '../search/tool-view.ts'
import { visibleSources } from '../sources/source-view.ts'

/** Returns the metrics of this process. */
export const readMetrics = defineOperation({
  name: 'metrics.read',
  summary: 'Return the metrics of a server in the Prometheus text format; over HTTP at /metrics.',
  scope: 'read',
  needs: ['catalog', 'metrics', 'registry', 'sources?'],
  input: z.object({}),
  output: z.string(),
  async handle(_input, context) {
    const { metrics, caller, registry } = context
    const queue = await registry.stores.executions.queue(caller.workspace)
    const state = { limits: await limitState(context), sources: await visibleSources(context) }
    return metrics.render(caller.workspace, queue, await readableNames(context), state)
  },
})

/** The use of limits, which names callers, for those who may read limits. */
async function limitState({ registry, caller, scopes }: OperationContext<'registry'>) {
  if (!scopes.has('write') || caller.toolsets !== undefined) return undefined
  const { limits } = registry.stores
  const all = await limits.list(caller.workspace)
  return all.length === 0 ? undefined : { limits: all, usage: await limits.usage(caller.workspace) }
}
