import { setTimeout as sleep } from 'node:timers/promises'
import { TooldexError, toTooldexError } from '../base/errors.ts'
import { reachPoint } from '../base/fault-points.ts'
import type { Ended, Execution, FinishedRun } from '../contract/execution.ts'
import type { Job, RunControls } from '../contract/executor.ts'
import type { RunOutcome } from '../contract/run.ts'
import { failure } from './create-runner.ts'
import type { StopReason } from './heartbeat.ts'
import type { RecordedRuns } from './recorded-runs.ts'
import { shapeOutput } from './shape-output.ts'
import { OutputTeller } from './tell-output.ts'

/** A run that this process holds. */
export interface BegunRun {
  readonly workspace: string
  readonly execution: Execution
}

/** Runs an attempt that this process holds, and writes its end. */
export async function performRecorded(
  runs: RecordedRuns,
  begun: BegunRun,
  job: Job,
  controls: RunControls,
): Promise<Execution> {
  const { runner, store, settings, observer } = runs.parts
  const { workspace, execution } = begun
  const stopping = new AbortController()
  let why: StopReason | undefined
  const stop = (reason: StopReason): void => {
    why ??= reason
    stopping.abort()
  }
  const { id, attempt } = execution
  runs.heartbeat.hold({ id, attempt, heardAt: performance.now(), stop })
  const ended = observer?.started(execution, workspace)
  const teller = new OutputTeller(store, execution)
  const onOutput: RunControls['onOutput'] = (stream, text) => {
    teller.take(stream, text)
    controls.onOutput?.(stream, text)
  }
  const signal = AbortSignal.any([stopping.signal, ...(controls.signal === undefined ? [] : [controls.signal])])
  try {
    const outcome = await orFailure(() => runner.perform(job, { ...controls, onOutput, signal }))
    await teller.close()
    reachPoint('F6 before final write')
    const run = shapeOutput(nameReason(outcome, why), teller.told, settings)
    const final = await finish(runs, begun, run)
    reachPoint('F7 after final write')
    ended?.(final)
    return final
  } finally {
    runs.heartbeat.release(id)
  }
}

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
  const until = performance.now() + giveUpMs
  for (let pauseMs = 50; ; pauseMs = Math.min(pauseMs * 2, 2000)) {
    try {
      const ended = await store.finish(execution, run)
      runs.notices.tell({ kind: 'changed', id: execution.id })
      return ended === undefined ? await readBack(runs, begun, run) : toEnded(execution, run, ended)
    } catch (thrown) {
      const error = toTooldexError(thrown)
      if (error.code !== 'UNAVAILABLE' || performance.now() > until) throw error
      logger.warn('the end of a run could not be written yet', { execution: execution.id, reason: error.message })
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
    environment: outcome.environment ?? null,
    completedAt: ended.completedAt,
    durationMs: ended.durationMs,
    updatedAt: ended.completedAt,
  }
}
