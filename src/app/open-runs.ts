import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import type { Logger } from '../base/logger.ts'
import { type NumberSettingName, readNumberSetting } from '../base/number-settings.ts'
import type { ExecutionStore } from '../contract/execution.ts'
import type { RunObserver } from '../contract/run-observer.ts'
import type { Tracing } from '../contract/tracing.ts'
import { defaultRunSettings, RecordedRuns, type Runner, type RunSettings } from '../runs/index.ts'

/** What this process does with recorded runs. */
interface OpenRunsOptions {
  readonly runner: Runner
  readonly store: ExecutionStore
  readonly logger: Logger
  readonly labels: readonly string[]
  /** Whether it takes runs from the queue; it makes those it is called for itself in any case. */
  readonly takeWork: boolean
  readonly observer?: RunObserver | undefined
  readonly tracing?: Tracing | undefined
}

/** Records runs from now on, and looks after those that others left. */
export async function openRuns({ labels, takeWork, ...parts }: OpenRunsOptions): Promise<RecordedRuns> {
  const worker = `${hostname().slice(0, 60)}:${process.pid}:${randomBytes(4).toString('hex')}`
  const runs = new RecordedRuns({ ...parts, settings: readSettings(process.env), worker, labels: ['', ...labels] })
  await runs.open({ takeWork })
  return runs
}

/** What whoever runs the server may set. */
function readSettings(env: NodeJS.ProcessEnv): RunSettings {
  const read = (name: NumberSettingName) => readNumberSetting(env, name)
  const leaseMs = read('TOOLDEX_LEASE_MS') ?? defaultRunSettings.leaseMs
  const queueMs = read('TOOLDEX_QUEUE_MS') ?? defaultRunSettings.queueMs
  const approvalMs = read('TOOLDEX_APPROVAL_MS') ?? defaultRunSettings.approvalMs
  const days = read('TOOLDEX_RETENTION_DAYS') ?? defaultRunSettings.retention.days
  const most = read('TOOLDEX_RETENTION_ROWS') ?? defaultRunSettings.retention.most
  const inlineBytes = read('TOOLDEX_INLINE_BYTES') ?? defaultRunSettings.inlineBytes
  const waiting = read('TOOLDEX_QUEUE_LIMIT')
  return {
    ...defaultRunSettings,
    leaseMs,
    beatMs: leaseMs / 5,
    sweepMs: Math.min(leaseMs / 3, defaultRunSettings.sweepMs),
    queueMs,
    approvalMs,
    inlineBytes,
    retention: { days, most },
    ...(waiting === undefined ? {} : { waiting: { all: waiting, perTool: waiting, perCaller: waiting } }),
  }
}
