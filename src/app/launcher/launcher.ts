import { type ChildProcess, fork } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { hasFaultHook, reachPoint } from '../../base/fault-points.ts'
import { withoutCredentials } from '../../base/own-variables.ts'
import { type Executor, type Job, killAtOnce, type RunControls } from '../../contract/executor.ts'
import type { ExecutorChoice } from '../../contract/policy.ts'
import type { RunOutcome } from '../../contract/run.ts'
import { fromErrorMessage, toErrorMessage } from './error-message.ts'
import type { FromLauncher, LauncherKind, LauncherOptions, ToLauncher } from './messages.ts'

interface Pending {
  readonly controls: RunControls
  resolve(outcome: RunOutcome): void
  reject(error: unknown): void
}

const entry = fileURLToPath(new URL('./launcher-process.js', import.meta.url))
const graceMs = 15_000
// A timer set for longer than this fires at once.
const maxMs = 2 ** 31 - 1
// What runs from its sources has no hand, and starts processes itself.
const isBuilt = existsSync(entry)

/**
 * The process that starts all others. Starting one takes time in proportion to the memory of whoever does it, and a
 * server holds a database and an index; its hand holds nothing.
 */
export class Launcher {
  readonly #options: Omit<LauncherOptions, 'points'>
  readonly #where: () => ExecutorChoice | undefined
  readonly #pending = new Map<number, Pending>()
  #process: ChildProcess | undefined
  #runs = 0
  #closed = false

  constructor(allowed: Omit<LauncherOptions, 'points'>, where: () => ExecutorChoice | undefined) {
    const { maxOutput, maxFile, containment, allowLimited, limited, allowNetwork, allowFolders, hide, warm } = allowed
    // Whoever gives more than this gives what cannot be sent.
    this.#options = { maxOutput, maxFile, containment, allowLimited, limited, allowNetwork, allowFolders, hide, warm }
    this.#where = where
  }

  /** The same executor, with its processes started by the hand. */
  hold(executor: Executor): Executor {
    if (!isBuilt) return executor
    const kind = executor.kind as LauncherKind
    return { ...executor, run: (job, controls) => this.#run(kind, job, controls) }
  }

  /** Starts it, so that the first call does not have to wait. */
  start(): void {
    if (isBuilt) this.#open()
  }

  #open(): ChildProcess {
    if (this.#process !== undefined) return this.#process
    const child = fork(entry, [], {
      env: withoutCredentials(process.env),
      execArgv: [],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    child.on('message', (message) => this.#hear(child, message as FromLauncher))
    // One that could not be started never ends.
    child.on('error', () => this.#lost(child))
    child.once('exit', () => this.#lost(child))
    child.unref()
    child.channel?.unref()
    this.#process = child
    this.#send(child, { type: 'start', options: { ...this.#options, points: hasFaultHook() } })
    return child
  }

  #run(kind: LauncherKind, job: Job, controls: RunControls): Promise<RunOutcome> {
    const id = ++this.#runs
    const child = this.#open()
    const { signal } = controls
    // A hand that does not answer in time is given up, with all that it runs.
    const giveUp = (): void => void child.kill('SIGKILL')
    let late = setTimeout(giveUp, Math.min((job.timeoutMs ?? maxMs) + graceMs, maxMs))
    const cancel = (): void => {
      this.#send(child, { type: 'cancel', id, atOnce: signal?.reason === killAtOnce })
      clearTimeout(late)
      late = setTimeout(giveUp, graceMs)
    }
    return new Promise<RunOutcome>((resolve, reject) => {
      this.#pending.set(id, { controls, resolve, reject })
      const publishOutput = controls.onOutput !== undefined
      this.#send(child, { type: 'run', id, kind, job, where: this.#where(), publishOutput })
      signal?.addEventListener('abort', cancel, { once: true })
      if (signal?.aborted) cancel()
    }).finally(() => {
      clearTimeout(late)
      this.#pending.delete(id)
      signal?.removeEventListener('abort', cancel)
    })
  }

  #hear(child: ChildProcess, message: FromLauncher): void {
    if (message.type === 'point') reachPoint(message.point)
    const pending = message.type === 'point' ? undefined : this.#pending.get(message.id)
    if (pending === undefined || message.type === 'point') return
    const { controls } = pending
    if (message.type === 'output') controls.onOutput?.(message.stream, message.text)
    else if (message.type === 'progress') controls.onProgress?.(message.bytes)
    else if (message.type === 'secret') void this.#sendSecret(child, message, controls)
    else if (message.outcome !== undefined) pending.resolve(message.outcome)
    else pending.reject(message.error && fromErrorMessage(message.error))
  }

  async #sendSecret(
    child: ChildProcess,
    { ask, reference }: Extract<FromLauncher, { type: 'secret' }>,
    controls: RunControls,
  ) {
    try {
      if (controls.secret === undefined) throw new Error('no secrets')
      this.#send(child, { type: 'secret', ask, value: await controls.secret(reference) })
    } catch (thrown) {
      this.#send(child, { type: 'secret', ask, error: toErrorMessage(thrown) })
    }
  }

  #send(child: ChildProcess, message: ToLauncher): void {
    // A hand that has gone is told of by its exit.
    if (child.connected) child.send(message, () => {})
  }

  /** Nobody knows how far its runs came; the next one gets a new hand. */
  #lost(child: ChildProcess): void {
    if (this.#process === child) this.#process = undefined
    if (this.#closed) return
    const result = { stdout: '', stderr: '', exitCode: null, signal: null, durationMs: 0, truncated: false }
    const errorMessage = 'The process that starts tools ended before the run had.'
    for (const { resolve } of this.#pending.values())
      resolve({ status: 'FAILED', result, isolation: 'none', errorCode: 'WORKER_LOST', errorMessage })
  }

  /** Lets it go; it ends whatever it still runs. */
  async close(): Promise<void> {
    this.#closed = true
    const child = this.#process
    if (child === undefined || !child.connected) return
    const gone = new Promise((resolve) => child.once('exit', resolve))
    child.disconnect()
    await Promise.race([gone, new Promise((resolve) => setTimeout(resolve, 4000).unref())])
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
  }
}
