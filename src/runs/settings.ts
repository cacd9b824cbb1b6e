/** Intervals and limits of recorded runs. Times are in milliseconds. */
export interface RunSettings {
  /** The duration of a lease, and the interval of its renewal. */
  readonly leaseMs: number
  readonly beatMs: number
  /** The intervals of the sweep for lost runs and of the deletion of old ones. */
  readonly sweepMs: number
  readonly pruneMs: number
  /** The interval of polling the queue without a notice. */
  readonly pollMs: number
  /** The maximum waits for a worker and for approval. */
  readonly queueMs: number
  readonly approvalMs: number
  readonly waiting: { readonly all: number; readonly perTool: number; readonly perCaller: number }
  /** Larger outputs are stored separately and read by their handle. */
  readonly inlineBytes: number
  readonly previewBytes: number
  readonly resultLifeMs: number
  /** The maximum number of attempts of a run that may be repeated when its worker is lost. */
  readonly attempts: number
  readonly retention: { readonly days: number; readonly maxRows: number }
}

export const defaultRunSettings: RunSettings = {
  leaseMs: 10_000,
  beatMs: 2000,
  sweepMs: 3000,
  pruneMs: 60_000,
  pollMs: 2000,
  queueMs: 3_600_000,
  approvalMs: 24 * 3_600_000,
  waiting: { all: 10_000, perTool: 2000, perCaller: 2000 },
  inlineBytes: 64 * 1024,
  previewBytes: 2048,
  resultLifeMs: 24 * 3_600_000,
  attempts: 3,
  retention: { days: 30, maxRows: 1_000_000 },
}
