import { setTimeout as sleep } from 'node:timers/promises'
import { TooldexError, toTooldexError } from '../base/errors.ts'
import type { Logger } from '../base/logger.ts'
import { loadTokenCounter } from '../base/tokens.ts'
import { withAnySignal } from '../base/until-aborted.ts'
import { yieldTurns } from '../base/yield-turns.ts'
import type { Beginning, Ended, Execution, ExecutionStore, FinishedRun, NewExecution } from '../contract/execution.ts'
import type { RunControls } from '../contract/executor.ts'
import type { RunOutcome } from '../contract/run.ts'
import type { RunObserver } from '../contract/telemetry.ts'
import { reachPoint } from '../rules/fault-points.ts'
import { failedOutcome, type PreparedCall, type Runner } from './create-runner.ts'
import { type CallLimits, draftExecution, labelOf, type ValidatedCall } from './draft-execution.ts'
import type { Leases, StopReason } from './leases.ts'
import { LeasedAttempt } from './leases.ts'
import { OutputPublisher } from './output-publisher.ts'
import type { RunNotices } from './run-waits.ts'
import type { RunSettings } from './settings.ts'
import { shapeOutput } from './shape-output.ts'

/** The dependencies of a recorder. */
interface RunRecorderParts {
  readonly runner: Pick<Runner, 'perform'>
  readonly store: Pick<ExecutionStore, 'create' | 'append' | 'finish' | 'giveBack' | 'get'>
  readonly leases: Pick<Leases, 'hold' | 'confirm' | 'release'>
  readonly notices: Pick<RunNotices, 'deliver'>
  readonly settings: RunSettings
  readonly logger: Logger
  readonly observer?: RunObserver | undefined
}

/** A run that this process has started. */
export interface BegunRun {
  readonly workspace: string
  readonly execution: Execution
  /** When it was requested from the database, by the monotonic clock of this process. */
  readonly begunAt: number
  /** Whether it counts toward limits. */
  readonly isLimited?: boolean
}

/** Writes runs: the row of a call before it runs, its output, and exactly one end. */
export class RunRecorder {
  readonly #parts: RunRecorderParts

  constructor(parts: RunRecorderParts) {
    this.#parts = parts
  }

  /** Records a call; `fresh` is false where a call with the same idempotency key is recorded already. */
  async create(call: ValidatedCall, beginning: Beginning): Promise<{ execution: Execution; fresh: boolean }> {
    const elsewhere = beginning.how === 'queue' || beginning.how === 'approval'
    return this.#create(call, this.#draft(call, elsewhere), beginning)
  }

  #draft(call: ValidatedCall, elsewhere: boolean): NewExecution {
    const { attempts } = this.#parts.settings
    return draftExecution(call, { timeoutMs: call.job.prepared.deadlineMs, attempts, elsewhere })
  }

  async #create(call: ValidatedCall, draft: NewExecution, beginning: Beginning, whileSending?: () => void) {
    const created = await counted(call.options.limits, () => {
      const sent = this.#parts.store.create(call.caller, draft, beginning)
      whileSending?.()
      return sent
    })
    reachPoint('F1 row inserted')
    call.options.onRecorded?.(created.execution)
    return created
  }

  /** Runs an attempt of this process and writes its end or returns it to the queue; a lost attempt is left to other processes. */
  perform(begun: BegunRun, job: PreparedCall, controls: RunControls): Promise<Execution> {
    const leased = new LeasedAttempt(begun.execution, begun.begunAt)
    return this.#complete(begun, leased, { job, run: () => this.#run(leased, job, controls) })
  }

  /** Records a call and runs its tool meanwhile; a tool whose call cannot be recorded is stopped, and its result is not used. */
  async performWhileRecording(call: ValidatedCall, beginning: Beginning, begunAt: number): Promise<Execution> {
    const { job, options } = call
    const draft = this.#draft(call, false)
    const leased = new LeasedAttempt({ ...draft, attempt: 1 }, begunAt)
    let running: Promise<FinishedRun | undefined> = Promise.resolve(undefined)
    const start = (): void => {
      running = this.#run(leased, job, options)
      running.catch(() => {})
    }
    try {
      const { execution } = await this.#create(call, draft, beginning, start)
      const begun = { workspace: call.caller.workspace, execution, begunAt, isLimited: options.limits !== undefined }
      return await this.#complete(begun, leased, { job, run: () => running })
    } catch (thrown) {
      leased.stop('lost')
      throw thrown
    }
  }

  async #complete(
    begun: BegunRun,
    leased: LeasedAttempt,
    { job, run: ranOf }: { job: PreparedCall; run: () => Promise<FinishedRun | undefined> },
  ): Promise<Execution> {
    const { leases, settings, logger } = this.#parts
    const { execution } = begun
    return this.#observe(begun, async () => {
      try {
        leases.hold(leased)
        await leases.confirm(leased)
        const run = (await ranOf()) ?? (await shapeOutput(lostRun, false, settings))
        if (leased.isLost()) logger.warn('run lost; another process may take it', { execution: execution.id })
        if (await this.#returnToQueue(leased, job, run)) return { final: { ...execution, worker: null } }
        reachPoint('F6 before final write')
        const final = await this.#finish(begun, run)
        reachPoint('F7 after final write')
        return { final, run }
      } finally {
        leases.release(leased)
      }
    })
  }

  /** Writes the end of a run that could not start. */
  async end(begun: BegunRun, outcome: RunOutcome): Promise<Execution> {
    return this.#observe(begun, async () => {
      const run = await shapeOutput(outcome, false, this.#parts.settings)
      return { final: await this.#finish(begun, run), run }
    })
  }

  /** Reports the start and the end of a run; a run that another process ended is counted there. */
  async #observe(
    { execution, workspace }: BegunRun,
    work: () => Promise<{ final: Execution; run?: FinishedRun }>,
  ): Promise<Execution> {
    const ended = this.#parts.observer?.started(execution, workspace)
    let own: Execution | undefined
    try {
      const { final, run } = await work()
      const isOwn = final.status === run?.outcome.status && final.errorCode === run.outcome.errorCode
      own = isOwn ? final : undefined
      return final
    } finally {
      ended?.(own)
    }
  }

  /** Returns the finished run; undefined where the lease was lost and the tool did not complete. */
  async #run(leased: LeasedAttempt, job: PreparedCall, controls: RunControls): Promise<FinishedRun | undefined> {
    const { runner, store, settings } = this.#parts
    // A run whose lease was lost before its start does not start.
    if (leased.isLost()) return undefined
    const turn = yieldTurns()
    const publisher = new OutputPublisher(store, leased)
    const onOutput: RunControls['onOutput'] = (stream, text, message) => {
      publisher.take(stream, text)
      controls.onOutput?.(stream, text, message)
    }
    const outcome = await orFailure(() =>
      withAnySignal([leased.signal, controls.signal], (signal) =>
        runner.perform(job, { ...controls, onOutput, signal }),
      ),
    )
    await publisher.close()
    await turn()
    if (leased.isLost() && outcome.status === 'CANCELLED') return undefined
    return shapeOutput(nameReason(outcome, leased.why), publisher.published, settings)
  }

  /**
   * Returns a run that a stopping process interrupted, or whose launcher was killed, to the queue where its tool may run again.
   * An interrupted attempt does not count.
   */
  async #returnToQueue(leased: LeasedAttempt, { tool }: PreparedCall, { outcome }: FinishedRun): Promise<boolean> {
    const { store, settings, logger } = this.#parts
    const isClosing = leased.why === 'closing' && outcome.status === 'CANCELLED'
    const isLost = outcome.errorCode === 'WORKER_LOST'
    if (!isClosing && !isLost) return false
    // The processes of a launcher end with it, but not at the same moment.
    if (isLost && !leased.isLost()) await sleep(launcherGoneMs)
    const definition = tool.id === null ? tool : null
    const options = { label: labelOf(tool), withinMs: settings.queueMs, counts: isLost, definition }
    const isBack = await this.#retry(leased.id, () => store.giveBack(leased, options))
    if (isBack) logger.info('run returned to the queue', { execution: leased.id })
    return isBack
  }

  /** Writes the end of a run; retries while the database is unavailable, which then decides whether the attempt is still current. */
  async #finish(begun: BegunRun, run: FinishedRun): Promise<Execution> {
    const { store, notices } = this.#parts
    const { execution } = begun
    const counted = begun.isLimited ? { ...run, cost: await costOf(run) } : run
    return this.#retry(execution.id, async () => {
      const ended = await store.finish(execution, counted)
      notices.deliver({ kind: 'changed', id: execution.id })
      return ended === undefined ? await this.#readBack(begun, run) : toEnded(execution, run, ended)
    })
  }

  /** Retries a write while the database is unavailable. */
  async #retry<Result>(id: string, write: () => Promise<Result>): Promise<Result> {
    const until = performance.now() + giveUpMs
    for (let pauseMs = 50; ; pauseMs = Math.min(pauseMs * 2, 2000)) {
      try {
        return await write()
      } catch (thrown) {
        const error = toTooldexError(thrown)
        if (error.code !== 'UNAVAILABLE' || performance.now() > until) throw error
        this.#parts.logger.warn('final write of a run failed; retrying', { execution: id, reason: error.message })
        await sleep(pauseMs)
      }
    }
  }

  /** Reads a run whose final write was rejected: an earlier write succeeded without a response, or another process ended the run. */
  async #readBack({ workspace, execution }: BegunRun, run: FinishedRun): Promise<Execution> {
    const now = await this.#parts.store.get(workspace, execution.id)
    if (now === undefined) throw new TooldexError('NOT_FOUND', `The execution ${execution.id} no longer exists.`)
    if (now.status !== run.outcome.status || now.attempt !== execution.attempt)
      this.#parts.logger.warn('result rejected: the run has ended otherwise', {
        execution: execution.id,
        status: now.status,
      })
    return now
  }
}

/** Counts a call before it is recorded; one that joins an earlier call, or cannot be recorded, does not count. */
async function counted<Created extends { readonly fresh: boolean }>(
  limits: CallLimits | undefined,
  create: () => Promise<Created>,
): Promise<Created> {
  if (limits === undefined) return create()
  await limits.take()
  let isCounted = false
  try {
    const created = await create()
    isCounted = created.fresh
    return created
  } finally {
    if (!isCounted) await limits.giveBack()
  }
}

/** The bytes of the whole output, and the tokens of the part that the caller receives. */
async function costOf({ outputData, stored }: FinishedRun) {
  const answer = typeof outputData === 'string' ? outputData : (JSON.stringify(outputData) ?? '')
  const count = await loadTokenCounter()
  return { bytes: Buffer.byteLength(stored?.content ?? answer), tokens: count(answer) }
}

const launcherGoneMs = 1000
const giveUpMs = 120_000

/** The outcome of a run that this process gave up; its write is rejected where another process has taken the run. */
const lostRun = failedOutcome(
  'WORKER_LOST',
  'The process that ran the tool lost its connection to the database and stopped the tool before its end.',
)

/** Turns an error into a failed run, because the row of the run exists and must end. */
async function orFailure(work: () => Promise<RunOutcome>): Promise<RunOutcome> {
  try {
    return await work()
  } catch (thrown) {
    const { code, message, hint } = toTooldexError(thrown)
    return failedOutcome(code, `${message} ${hint}`)
  }
}

function nameReason(outcome: RunOutcome, why: StopReason | undefined): RunOutcome {
  if (outcome.status !== 'CANCELLED' || why !== 'closing') return outcome
  return { ...outcome, errorCode: 'SHUTTING_DOWN', errorMessage: 'The server stopped before the end of the run.' }
}

function toEnded(execution: Execution, { outcome, outputData, logs }: FinishedRun, ended: Ended): Execution {
  const { status, result, isolation, errorCode, errorMessage, suspicious } = outcome
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
    ...(suspicious === undefined ? {} : { suspicious }),
    isolation,
    // For a run that waited for a slot only the database has the time of its start.
    startedAt: execution.startedAt ?? new Date(Date.parse(ended.completedAt) - ended.durationMs).toISOString(),
    environment: outcome.environment ?? null,
    completedAt: ended.completedAt,
    durationMs: ended.durationMs,
    updatedAt: ended.completedAt,
  }
}
