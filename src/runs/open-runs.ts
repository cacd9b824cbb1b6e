import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import type { Logger } from '../base/logger.ts'
import { packageVersion } from '../base/package-info.ts'
import type { ExecutionStore } from '../contract/execution.ts'
import type { WorkerInfo } from '../contract/run.ts'
import type { RunObserver, Tracing } from '../contract/telemetry.ts'
import type { Runner } from './create-runner.ts'
import { RecordedRuns } from './recorded-runs.ts'
import { readRunSettings } from './settings.ts'

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
  /** Whether only queued runs with a label of this process are taken. */
  readonly takesOwnOnly?: boolean
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
  const runs = new RecordedRuns({ ...parts, settings: readRunSettings(), info })
  await runs.open()
  return runs
}
