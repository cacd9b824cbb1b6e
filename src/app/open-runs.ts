import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import type { Logger } from '../base/logger.ts'
import { type NumberSettingName, readNumberSetting } from '../base/number-settings.ts'
import { packageVersion } from '../base/package-info.ts'
import type { ExecutionStore } from '../contract/execution.ts'
import type { RunObserver, Tracing } from '../contract/telemetry.ts'
import type { WorkerInfo } from '../contract/worker.ts'
import type { Runner } from '../runs/create-runner.ts'
import { RecordedRuns } from '../runs/recorded-runs.ts'
import { defaultRunSettings, type RunSettings } from '../runs/settings.ts'

/** The role of this process for recorded runs. */
interface OpenRunsOptions {
  readonly runner: Runner
  readonly store: ExecutionStore
  readonly logger: Logger
  readonly kind: WorkerInfo['kind']
  /** The labels of queued runs that this process takes, besides those without a label. */
  readonly labels?: readonly string[]
  /** Whether this process takes runs from the queue. */
  readonly takesWork: boolean
  /** Whether this process runs the calls that it receives. */
  readonly runsTools: boolean
  readonly observer?: RunObserver | undefined
  readonly tracing?: Tracing | undefined
}

/** Starts recording runs and sweeping those of lost workers. */
export async function openRuns({ kind, labels = [], takesWork, ...parts }: OpenRunsOptions): Promise<RecordedRuns> {
  const { runner, runsTools } = parts
  const info = {
    worker: `${hostname().slice(0, 60)}:${process.pid}:${randomBytes(4).toString('hex')}`,
    kind,
    version: packageVersion(),
    executors: runsTools ? [...runner.kinds] : [],
    labels: [...labels],
    slots: runsTools ? runner.slots.size : 0,
    takesWork,
    draining: false,
  }
  const runs = new RecordedRuns({ ...parts, settings: readSettings(process.env), info })
  await runs.open()
  return runs
}

/** Reads the settings of the operator. */
function readSettings(env: NodeJS.ProcessEnv): RunSettings {
  const read = (name: NumberSettingName) => readNumberSetting(env, name)
  const leaseMs = read('TOOLDEX_LEASE_MS') ?? defaultRunSettings.leaseMs
  const queueMs = read('TOOLDEX_QUEUE_MS') ?? defaultRunSettings.queueMs
  const approvalMs = read('TOOLDEX_APPROVAL_MS') ?? defaultRunSettings.approvalMs
  const days = read('TOOLDEX_RETENTION_DAYS') ?? defaultRunSettings.retention.days
  const maxRows = read('TOOLDEX_RETENTION_ROWS') ?? defaultRunSettings.retention.maxRows
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
    retention: { days, maxRows },
    ...(waiting === undefined ? {} : { waiting: { all: waiting, perTool: waiting, perCaller: waiting } }),
  }
}
