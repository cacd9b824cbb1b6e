import * as z from 'zod'
import { TooldexError } from '../../base/errors.ts'
import { defineOperation } from '../operation.ts'
import { registryOf } from '../registry/registry.ts'
import { readableNames } from '../search/tool-view.ts'

/** Returns the metrics of this process. */
export const readMetrics = defineOperation({
  name: 'metrics.read',
  summary: 'Return the metrics of a server in the Prometheus text format; over HTTP at /metrics.',
  scope: 'read',
  input: z.object({}),
  output: z.string(),
  async handle(_input, context) {
    const { metrics, caller } = context
    if (metrics === undefined)
      throw new TooldexError('UNAVAILABLE', 'No metrics are collected here.', {
        hint: 'Request them from a server: GET /metrics',
      })
    const queue = await registryOf(context).stores.executions.queue(caller.workspace)
    return metrics.render(caller.workspace, queue, await readableNames(context))
  },
})
