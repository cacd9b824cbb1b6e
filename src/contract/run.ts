import * as z from 'zod'

import { type ExecutorKind, type ExecutorKindName, executorKinds } from './executor-kinds.ts'

/** The final statuses of a run. */
export const RunStatus = z.enum(['SUCCESS', 'FAILED', 'TIMEOUT', 'CANCELLED'])
export type RunStatus = z.infer<typeof RunStatus>

/**
 * The boundary between a run and the host: separate namespaces (`isolated`), a kernel policy on files, network and
 * signals (`confined`), limits without a sandbox (`limited`), or no process at all (`none`).
 */
export const Isolation = z.enum(['isolated', 'confined', 'limited', 'none'])
export type Isolation = z.infer<typeof Isolation>

/** The result of a finished command. */
export const CommandResult = z.object({
  stdout: z.string(),
  stderr: z.string(),
  exitCode: z.int().nullable(),
  signal: z.string().nullable(),
  durationMs: z.number(),
  truncated: z.boolean(),
})
export type CommandResult = z.infer<typeof CommandResult>

/** The outcome of a finished run: the failure of a tool is a result, not an error. */
export const RunOutcome = z.object({
  status: RunStatus,
  result: CommandResult,
  /** The output of the tool, where it is not the same as its standard output. */
  output: z.unknown().optional(),
  isolation: Isolation,
  /** The Python environment and its state. */
  environment: z.string().optional(),
  /** The reason for a failure: a code of the error table and a message. */
  errorCode: z.string().nullable(),
  errorMessage: z.string().nullable(),
  suspicious: z
    .array(z.string())
    .optional()
    .describe('Signs that the result, which comes from another service, tries to direct its reader.'),
})
export type RunOutcome = z.infer<typeof RunOutcome>

/** The error message of a failure for which only the exit code is known. */
export const exitMessage = (exitCode: number | null): string => `Command failed with exit code ${exitCode}`

const planFields = { isolation: Isolation, timeoutMs: z.int() }

/** The plan of a run, as a dry run returns it, by the kind of its executor. Secrets are masked. */
export type RunPlan = {
  readonly [Kind in ExecutorKindName]: { readonly kind: Kind } & Fields<typeof planFields> &
    Fields<(typeof executorKinds)[Kind]['plan']>
}[ExecutorKindName]
type Fields<Shape> = Shape extends z.ZodRawShape ? z.infer<z.ZodObject<Shape>> : never
const plans = Object.entries<ExecutorKind>(executorKinds).map(([kind, { plan }]) =>
  z.object({ kind: z.literal(kind), ...planFields, ...plan }),
)
export const RunPlan = z.discriminatedUnion('kind', plans as [(typeof plans)[0]]) as unknown as z.ZodType<RunPlan>

/** The reference to an output that was too large to return whole. */
export const StoredResult = z.object({
  handle: z.guid(),
  bytes: z.int(),
  /** `application/json` or `text/plain`. */
  mediaType: z.string(),
  expiresAt: z.iso.datetime(),
})
export type StoredResult = z.infer<typeof StoredResult>

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
