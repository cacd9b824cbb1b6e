/** How recorded runs are kept alive, and bounded. Times are milliseconds. */
export interface RunSettings {
  /** For how long a process is believed without hearing from it, and how often it says that it lives. */
  readonly leaseMs: number
  readonly beatMs: number
  /** How often what nobody runs any more is looked for, and what is too old. */
  readonly sweepMs: number
  readonly pruneMs: number
  /** How often the queue is looked at although no notice came. */
  readonly pollMs: number
  /** How long a call may wait for a worker, and for a person's yes. */
  readonly queueMs: number
  readonly approvalMs: number
  readonly waiting: { readonly all: number; readonly perTool: number; readonly perCaller: number }
  /** What is larger is kept aside and read by its handle. */
  readonly inlineBytes: number
  readonly previewBytes: number
  readonly resultLifeMs: number
  /** How often a run that does no harm twice is tried when its worker is lost. */
  readonly attempts: number
  readonly retention: { readonly days: number; readonly most: number }
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
  retention: { days: 30, most: 1_000_000 },
}
