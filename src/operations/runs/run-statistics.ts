import * as z from 'zod'
import { RunCounts } from '../../contract/run-history.ts'
import { defineOperation, type OperationContext } from '../operation.ts'
import { readableNames } from '../search/tool-view.ts'
import { visibleSources } from '../sources/source-view.ts'

const maxRuns = 200_000
const hourMs = 3_600_000

/** Counts recorded runs by hour. */
export const readRunStatistics = defineOperation({
  name: 'executions.statistics',
  summary: 'Count recorded runs, failures and durations by hour, or by a number of hours.',
  scope: 'read',
  needs: ['catalog', 'registry'],
  http: { method: 'get', path: '/executions/statistics', tag: 'executions' },
  input: z.object({
    tool: z.string().max(200).optional().describe('Only runs of this tool.'),
    hours: z.int().min(1).max(720).default(24).describe('The number of hours until now; at most 30 days.'),
    spanHours: z.int().min(1).max(24).default(1).describe('The hours that are counted together.'),
  }),
  output: z.object({
    since: z.iso.datetime(),
    total: RunCounts,
    hours: z
      .array(RunCounts.extend({ from: z.iso.datetime() }))
      .describe('The spans, by their beginning; those without runs are omitted.'),
    complete: z.boolean().describe(`Whether all runs were counted; otherwise the newest ${maxRuns}.`),
  }),
  async handle({ tool, hours, spanHours }, context) {
    const spanMs = spanHours * hourMs
    const since = new Date(Math.floor(Date.now() / spanMs - Math.ceil(hours / spanHours) + 1) * spanMs)
    const names = await readableNames(context)
    const query = { since, spanMs, maxRuns, tool, names }
    const { total, spans } = await context.registry.stores.stats.runs(context.caller.workspace, query)
    return { since: since.toISOString(), total, hours: [...spans], complete: total.runs < maxRuns }
  },
})

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
