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

/** A run that this process holds. */
export interface BegunRun {
  readonly workspace: string
  readonly execution: Execution
  /** When it was requested from the database, by the monotonic clock of this process. */
  readonly begunAt: number
}

/** Runs an attempt that this process holds, and writes its end or returns it to the queue; one that it lost is left to others. */
export async function performRecorded(
  runs: RecordedRuns,
  begun: BegunRun,
  job: Job,
  controls: RunControls,
): Promise<Execution> {
  const { workspace, execution } = begun
  const held = new LeasedAttempt(begun)
  const ended = runs.parts.observer?.started(execution, workspace)
  let own: Execution | undefined
  try {
    runs.heartbeat.hold(held)
    await runs.heartbeat.confirm(held)
    const run = (await runLeased(runs, held, job, controls)) ?? (await shapeOutput(lostRun, false, runs.parts.settings))
    if (held.isLost()) runs.parts.logger.warn('a run was lost and is left to others', { execution: execution.id })
    if (await returnToQueue(runs, held, job, run)) return { ...execution, worker: null }
    reachPoint('F6 before final write')
    const final = await finish(runs, begun, run)
    own = isOwn(final, run) ? final : undefined
    reachPoint('F7 after final write')
    return final
  } finally {
    ended?.(own)
    runs.heartbeat.release(held)
  }
}

/** Whoever else ended the run counts it. */
export const isOwn = (final: Execution, { outcome }: FinishedRun): boolean =>
  final.status === outcome.status && final.errorCode === outcome.errorCode

/** An attempt that can be told to stop. */
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

/** A run that this process gave up; the write of its end is refused where another has taken it. */
const lostRun = failure(
  'WORKER_LOST',
  'The process that ran the tool lost touch with the database, and ended the tool before the run had ended.',
)

/** What the tool gave; undefined where others may believe this process dead, and nothing was done to the end. */
async function runLeased(
  { parts: { runner, store, settings } }: RecordedRuns,
  held: LeasedAttempt,
  job: Job,
  controls: RunControls,
): Promise<FinishedRun | undefined> {
  // Whoever was held up for so long does not even start.
  if (held.isLost()) return undefined
  const turn = yieldTurns()
  const teller = new OutputPublisher(store, held)
  const onOutput: RunControls['onOutput'] = (stream, text) => {
    teller.take(stream, text)
    controls.onOutput?.(stream, text)
  }
  const signal = AbortSignal.any([held.signal, ...(controls.signal === undefined ? [] : [controls.signal])])
  const outcome = await orFailure(() => runner.perform(job, { ...controls, onOutput, signal }))
  await teller.close()
  await turn()
  if (held.isLost() && outcome.status === 'CANCELLED') return undefined
  return shapeOutput(nameReason(outcome, held.why), teller.told, settings)
}

/**
 * A run that a stopping process breaks off, or whose launcher was killed, goes back to the queue where its tool may run again.
 * An attempt that was broken off does not count.
 */
async function returnToQueue(
  { parts: { store, settings, logger } }: RecordedRuns,
  held: LeasedAttempt,
  { tool }: Job,
  { outcome }: FinishedRun,
): Promise<boolean> {
  const isClosing = held.why === 'closing' && outcome.status === 'CANCELLED'
  const isLost = outcome.errorCode === 'WORKER_LOST'
  if (!isClosing && !isLost) return false
  // The processes of a launcher end with it, but not in the same moment.
  if (isLost && !held.isLost()) await sleep(launcherGoneMs)
  const definition = tool.id === null ? tool : null
  const options = { label: labelOf(tool), withinMs: settings.queueMs, counts: isLost, definition }
  const isBack = await untilAnswered(logger, held.id, () => store.giveBack(held, options))
  if (isBack) logger.info('a run went back to the queue', { execution: held.id })
  return isBack
}

const launcherGoneMs = 1000

/** What should not have been called is a failed run by now: its row is there, and must end. */
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
  return { ...outcome, errorCode: 'SHUTTING_DOWN', errorMessage: 'The server stopped before the run had ended.' }
}

/** Writes the end of a run; a database that is away for a while is waited for, and decides then whether it still counts. */
export async function finish(runs: RecordedRuns, begun: BegunRun, run: FinishedRun): Promise<Execution> {
  const { store, logger } = runs.parts
  const { execution } = begun
  return untilAnswered(logger, execution.id, async () => {
    const ended = await store.finish(execution, run)
    runs.notices.tell({ kind: 'changed', id: execution.id })
    return ended === undefined ? await readBack(runs, begun, run) : toEnded(execution, run, ended)
  })
}

/** Repeats a write about a run while the database is away. */
async function untilAnswered<Result>(
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
      logger.warn('the end of a run could not be written yet', { execution: id, reason: error.message })
      await sleep(pauseMs)
    }
  }
}

const giveUpMs = 120_000

/** Either the write had gone through without our hearing of it, or somebody else ended the run. */
async function readBack(runs: RecordedRuns, { workspace, execution }: BegunRun, run: FinishedRun): Promise<Execution> {
  const { store, logger } = runs.parts
  const now = await store.get(workspace, execution.id)
  if (now === undefined) throw new TooldexError('NOT_FOUND', `The execution ${execution.id} is gone.`)
  if (now.status !== run.outcome.status || now.attempt !== execution.attempt)
    logger.warn('a result came too late and was refused', { execution: execution.id, status: now.status })
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
    // Of one that waited for its turn only the database knows when that came.
    startedAt: execution.startedAt ?? new Date(Date.parse(ended.completedAt) - ended.durationMs).toISOString(),
    environment: outcome.environment ?? null,
    completedAt: ended.completedAt,
    durationMs: ended.durationMs,
    updatedAt: ended.completedAt,
  }
}
