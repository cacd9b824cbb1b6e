import type { Environment } from '../base/expand-variables.ts'
import { readSetting } from '../rules/settings.ts'

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

const waiting = { all: 10_000, perTool: 2000, perCaller: 2000 }
const maxSweepMs = 3000

/** The settings of the operator, of this process if no environment is named. */
export function readRunSettings(env?: Environment): RunSettings {
  const leaseMs = readSetting('TOOLDEX_LEASE_MS', env)
  const limit = readSetting('TOOLDEX_QUEUE_LIMIT', env)
  return {
    leaseMs,
    beatMs: leaseMs / 5,
    sweepMs: Math.min(leaseMs / 3, maxSweepMs),
    pruneMs: 60_000,
    pollMs: 2000,
    queueMs: readSetting('TOOLDEX_QUEUE_MS', env),
    approvalMs: readSetting('TOOLDEX_APPROVAL_MS', env),
    waiting: limit === undefined ? waiting : { all: limit, perTool: limit, perCaller: limit },
    inlineBytes: readSetting('TOOLDEX_INLINE_BYTES', env),
    previewBytes: 2048,
    resultLifeMs: 24 * 3_600_000,
    attempts: 3,
    retention: {
      days: readSetting('TOOLDEX_RETENTION_DAYS', env),
      maxRows: readSetting('TOOLDEX_RETENTION_ROWS', env),
    },
  }
}

export const defaultRunSettings: RunSettings = readRunSettings({})
