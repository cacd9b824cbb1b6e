import { setTimeout as sleep } from 'node:timers/promises'
import { TooldexError, toTooldexError } from '../base/errors.ts'
import { reachPoint } from '../base/fault-points.ts'
import { yieldTurns } from '../base/yield-turns.ts'
import type { Ended, Execution, FinishedRun } from '../contract/execution.ts'
import { type Job, killAtOnce, type RunControls } from '../contract/executor.ts'
import type { RunOutcome } from '../contract/run.ts'
import { failure } from './create-runner.ts'
import type { LeasedRun, StopReason } from './heartbeat.ts'
import { labelOf } from './label-of.ts'
import { OutputPublisher } from './output-publisher.ts'
import type { RecordedRuns } from './recorded-runs.ts'
import { shapeOutput } from './shape-output.ts'

/** A run that this process has started. */
export interface BegunRun {
  readonly workspace: string
  readonly execution: Execution
  /** When it was requested from the database, by the monotonic clock of this process. */
  readonly begunAt: number
}

/** Runs an attempt of this process and writes its end or returns it to the queue; a lost attempt is left to other processes. */
export async function performRecorded(
  runs: RecordedRuns,
  begun: BegunRun,
  job: Job,
  controls: RunControls,
): Promise<Execution> {
  const { workspace, execution } = begun
  const leased = new LeasedAttempt(begun)
  const ended = runs.parts.observer?.started(execution, workspace)
  let own: Execution | undefined
  try {
    runs.heartbeat.hold(leased)
    await runs.heartbeat.confirm(leased)
    const run =
      (await runLeased(runs, leased, job, controls)) ?? (await shapeOutput(lostRun, false, runs.parts.settings))
    if (leased.isLost()) runs.parts.logger.warn('run lost; another process may take it', { execution: execution.id })
    if (await returnToQueue(runs, leased, job, run)) return { ...execution, worker: null }
    reachPoint('F6 before final write')
    const final = await finish(runs, begun, run)
    own = isOwn(final, run) ? final : undefined
    reachPoint('F7 after final write')
    return final
  } finally {
    ended?.(own)
    runs.heartbeat.release(leased)
  }
}

/** Whether this process ended the run; otherwise the process that did counts it. */
export const isOwn = (final: Execution, { outcome }: FinishedRun): boolean =>
  final.status === outcome.status && final.errorCode === outcome.errorCode

/** An attempt that can be stopped. */
class LeasedAttempt implements LeasedRun {
  readonly id: string
  readonly attempt: number
  readonly begunAt: number
  readonly toolName: string
  why: StopReason | undefined
  readonly #stopping = new AbortController()

  constructor({ execution, begunAt }: BegunRun) {
    this.id = execution.id
    this.attempt = execution.attempt
    this.toolName = execution.toolName
    this.begunAt = begunAt
  }

  get signal(): AbortSignal {
    return this.#stopping.signal
  }

  isLost(): boolean {
    return this.why === 'lost'
  }

  stop(why: StopReason): void {
    this.why ??= why
    this.#stopping.abort(why === 'lost' ? killAtOnce : undefined)
  }
}

/** The outcome of a run that this process gave up; its write is rejected where another process has taken the run. */
const lostRun = failure(
  'WORKER_LOST',
  'The process that ran the tool lost its connection to the database and stopped the tool before its end.',
)

/** Returns the finished run; undefined where the lease was lost and the tool did not complete. */
async function runLeased(
  { parts: { runner, store, settings } }: RecordedRuns,
  leased: LeasedAttempt,
  job: Job,
  controls: RunControls,
): Promise<FinishedRun | undefined> {
  // A run whose lease was lost before its start does not start.
  if (leased.isLost()) return undefined
  const turn = yieldTurns()
  const publisher = new OutputPublisher(store, leased)
  const onOutput: RunControls['onOutput'] = (stream, text) => {
    publisher.take(stream, text)
    controls.onOutput?.(stream, text)
  }
  const signal = AbortSignal.any([leased.signal, ...(controls.signal === undefined ? [] : [controls.signal])])
  const outcome = await orFailure(() => runner.perform(job, { ...controls, onOutput, signal }))
  await publisher.close()
  await turn()
  if (leased.isLost() && outcome.status === 'CANCELLED') return undefined
  return shapeOutput(nameReason(outcome, leased.why), publisher.published, settings)
}

/**
 * Returns a run that a stopping process interrupted, or whose launcher was killed, to the queue where its tool may run again.
 * An interrupted attempt does not count.
 */
async function returnToQueue(
  { parts: { store, settings, logger } }: RecordedRuns,
  leased: LeasedAttempt,
  { tool }: Job,
  { outcome }: FinishedRun,
): Promise<boolean> {
  const isClosing = leased.why === 'closing' && outcome.status === 'CANCELLED'
  const isLost = outcome.errorCode === 'WORKER_LOST'
  if (!isClosing && !isLost) return false
  // The processes of a launcher end with it, but not at the same moment.
  if (isLost && !leased.isLost()) await sleep(launcherGoneMs)
  const definition = tool.id === null ? tool : null
  const options = { label: labelOf(tool), withinMs: settings.queueMs, counts: isLost, definition }
  const isBack = await retryWrite(logger, leased.id, () => store.giveBack(leased, options))
  if (isBack) logger.info('run returned to the queue', { execution: leased.id })
  return isBack
}

const launcherGoneMs = 1000

/** Turns an error into a failed run, because the row of the run exists and must end. */
async function orFailure(work: () => Promise<RunOutcome>): Promise<RunOutcome> {
  try {
    return await work()
  } catch (thrown) {
    const { code, message, hint } = toTooldexError(thrown)
    return failure(code, `${message} ${hint}`)
  }
}

function nameReason(outcome: RunOutcome, why: StopReason | undefined): RunOutcome {
  if (outcome.status !== 'CANCELLED' || why !== 'closing') return outcome
  return { ...outcome, errorCode: 'SHUTTING_DOWN', errorMessage: 'The server stopped before the end of the run.' }
}

/** Writes the end of a run; retries while the database is unavailable, which then decides whether the attempt is still current. */
export async function finish(runs: RecordedRuns, begun: BegunRun, run: FinishedRun): Promise<Execution> {
  const { store, logger } = runs.parts
  const { execution } = begun
  return retryWrite(logger, execution.id, async () => {
    const ended = await store.finish(execution, run)
    runs.notices.deliver({ kind: 'changed', id: execution.id })
    return ended === undefined ? await readBack(runs, begun, run) : toEnded(execution, run, ended)
  })
}

/** Retries a write while the database is unavailable. */
async function retryWrite<Result>(
  logger: RecordedRuns['parts']['logger'],
  id: string,
  write: () => Promise<Result>,
): Promise<Result> {
  const until = performance.now() + giveUpMs
  for (let pauseMs = 50; ; pauseMs = Math.min(pauseMs * 2, 2000)) {
    try {
      return await write()
    } catch (thrown) {
      const error = toTooldexError(thrown)
      if (error.code !== 'UNAVAILABLE' || performance.now() > until) throw error
      logger.warn('final write of a run failed; retrying', { execution: id, reason: error.message })
      await sleep(pauseMs)
    }
  }
}

const giveUpMs = 120_000

/** Reads a run whose final write was rejected: an earlier write succeeded without a response, or another process ended the run. */
async function readBack(runs: RecordedRuns, { workspace, execution }: BegunRun, run: FinishedRun): Promise<Execution> {
  const { store, logger } = runs.parts
  const now = await store.get(workspace, execution.id)
  if (now === undefined) throw new TooldexError('NOT_FOUND', `The execution ${execution.id} no longer exists.`)
  if (now.status !== run.outcome.status || now.attempt !== execution.attempt)
    logger.warn('result rejected: the run has ended otherwise', { execution: execution.id, status: now.status })
  return now
}

function toEnded(execution: Execution, { outcome, outputData, logs }: FinishedRun, ended: Ended): Execution {
  const { status, result, isolation, errorCode, errorMessage } = outcome
  return {
    ...execution,
    status,
    reason: null,
    outputData,
    result: ended.stored,
    logs,
    errorCode,
    errorMessage,
    exitCode: result.exitCode,
    truncated: result.truncated,
    isolation,
    // For a run that waited for a slot only the database has the time of its start.
    startedAt: execution.startedAt ?? new Date(Date.parse(ended.completedAt) - ended.durationMs).toISOString(),
    environment: outcome.environment ?? null,
    completedAt: ended.completedAt,
    durationMs: ended.durationMs,
    updatedAt: ended.completedAt,
  }
}
