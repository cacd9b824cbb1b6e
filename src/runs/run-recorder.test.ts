import { describe, expect, it } from 'vitest'
import { TooldexError } from '../base/errors.ts'
import { silentLogger } from '../base/logger.ts'
import type { Beginning, Execution, FinishedRun, NewExecution } from '../contract/execution.ts'
import { noResult } from '../contract/executor.ts'
import type { RunOutcome } from '../contract/run.ts'
import type { ValidatedCall } from './draft-execution.ts'
import { RunRecorder } from './run-recorder.ts'
import { defaultRunSettings } from './settings.ts'

const succeeded: RunOutcome = {
  status: 'SUCCESS',
  result: noResult,
  isolation: 'none',
  errorCode: null,
  errorMessage: null,
  output: { sum: 5 },
}
const beginning: Beginning = { how: 'run', worker: 'w1', leaseMs: 1000, unflushed: true }
const call = {
  caller: { workspace: 'default', actor: 'key:one' },
  job: { tool: { name: 'add', annotations: { readOnlyHint: true } }, input: {}, prepared: { deadlineMs: 1000 } },
  options: { wait: true },
} as unknown as ValidatedCall

/** A promise that is settled from outside. */
function later() {
  let resolve: () => void = () => {}
  let reject: (error: Error) => void = () => {}
  const promise = new Promise<void>((resolved, rejected) => {
    resolve = resolved
    reject = rejected
  })
  return { promise, resolve, reject }
}

/** A recorder whose steps are listed, and whose row is written when `write` is called. */
function recorderOf(perform: (signal: AbortSignal) => Promise<RunOutcome>) {
  const steps: string[] = []
  const row = later()
  const started = later()
  const recorder = new RunRecorder({
    runner: {
      async perform(_, controls) {
        steps.push('tool started')
        started.resolve()
        return perform(controls?.signal ?? new AbortController().signal)
      },
    },
    store: {
      async create(_, draft: NewExecution) {
        steps.push('row sent')
        await row.promise
        steps.push('row written')
        return { execution: { id: draft.id, toolName: draft.toolName, attempt: 1 } as Execution, fresh: true }
      },
      async finish(_, { outcome }: FinishedRun) {
        steps.push(`end written: ${outcome.status}`)
        return { completedAt: new Date(0).toISOString(), durationMs: 1, stored: null }
      },
      append: async () => {},
      giveBack: async () => false,
      get: async () => undefined,
    },
    leases: {
      hold: () => void steps.push('held'),
      confirm: async () => {},
      release: () => void steps.push('released'),
    },
    notices: { deliver: () => {} },
    settings: defaultRunSettings,
    logger: silentLogger,
  })
  return { recorder, steps, row, started: started.promise }
}

describe('RunRecorder.performWhileRecording', () => {
  it('sends the row before the tool starts, and writes the end after the row', async () => {
    const ran = later()
    const { recorder, steps, row, started } = recorderOf(async () => {
      ran.resolve()
      return succeeded
    })
    const ended = recorder.performWhileRecording(call, beginning, 0)
    await Promise.all([started, ran.promise])
    expect(steps).toEqual(['row sent', 'tool started'])
    row.resolve()
    expect(await ended).toMatchObject({ status: 'SUCCESS', outputData: { sum: 5 } })
    expect(steps.slice(2)).toEqual(['row written', 'held', 'end written: SUCCESS', 'released'])
  })

  it('stops the tool of a call that cannot be recorded, and reports the reason', async () => {
    const stopped = later()
    const { recorder, steps, row, started } = recorderOf(async (signal) => {
      signal.addEventListener('abort', () => stopped.resolve())
      await stopped.promise
      return { ...succeeded, status: 'CANCELLED' }
    })
    const ended = recorder.performWhileRecording(call, beginning, 0)
    await started
    row.reject(new TooldexError('UNAVAILABLE', 'The database does not respond.'))
    await expect(ended).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    await stopped.promise
    expect(steps).toEqual(['row sent', 'tool started'])
  })

  it('starts no tool where a limit is reached', async () => {
    const { recorder, steps } = recorderOf(async () => succeeded)
    const reached = () => Promise.reject(new TooldexError('LIMIT_EXCEEDED', 'The limit is reached.'))
    const limits = { keys: [], take: reached, giveBack: async () => {} }
    const limited = { ...call, options: { ...call.options, limits } }
    await expect(recorder.performWhileRecording(limited, beginning, 0)).rejects.toMatchObject({
      code: 'LIMIT_EXCEEDED',
    })
    expect(steps).toEqual([])
  })
})
