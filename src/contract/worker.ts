import * as z from 'zod'

/** A process that runs tools, as other processes see it. */
export const WorkerInfo = z.object({
  worker: z.string(),
  kind: z.enum(['server', 'worker', 'command']),
  version: z.string(),
  executors: z.array(z.string()).describe('The executors it has.'),
  labels: z
    .array(z.string())
    .describe('The labels of the queued runs that it takes, in addition to runs without a label.'),
  slots: z.int().describe('The maximum number of concurrent runs.'),
  takesWork: z.boolean().describe('Whether it takes runs from the queue.'),
  draining: z.boolean().describe('Whether it is stopping and takes no more runs.'),
})
export type WorkerInfo = z.infer<typeof WorkerInfo>

/** A worker and its current state. */
export const WorkerState = WorkerInfo.extend({
  running: z.int(),
  startedAt: z.iso.datetime(),
  lastSeenAt: z.iso.datetime(),
  alive: z.boolean().describe('Whether its lease is valid.'),
})
export type WorkerState = z.infer<typeof WorkerState>

/** The sweeping process and its own current runs. */
export interface SweepingWorker {
  readonly worker: string
  readonly runs: readonly string[]
}
