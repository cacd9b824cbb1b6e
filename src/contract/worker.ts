import * as z from 'zod'

/** A process that runs tools, as the fleet sees it. */
export const WorkerInfo = z.object({
  worker: z.string(),
  kind: z.enum(['server', 'worker', 'command']),
  version: z.string(),
  executors: z.array(z.string()).describe('The kinds of tools it can run.'),
  labels: z.array(z.string()).describe('The labels of queued runs that it takes, besides those without a label.'),
  slots: z.int().describe('How many runs it makes at once.'),
  takesWork: z.boolean().describe('Whether it takes runs from the queue.'),
  draining: z.boolean().describe('Whether it is stopping and takes no more.'),
})
export type WorkerInfo = z.infer<typeof WorkerInfo>

/** A worker of the fleet, and what it does now. */
export const WorkerState = WorkerInfo.extend({
  running: z.int(),
  startedAt: z.iso.datetime(),
  lastSeenAt: z.iso.datetime(),
  alive: z.boolean().describe('Whether its lease holds.'),
})
export type WorkerState = z.infer<typeof WorkerState>
