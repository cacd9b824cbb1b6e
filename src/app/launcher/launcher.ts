import { type ChildProcess, fork } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { JsonText } from '../../base/json-text.ts'
import { type Executor, type Job, killAtOnce, type RunControls } from '../../contract/executor.ts'
import { type ExecutorKindName, executorKinds } from '../../contract/executor-kinds.ts'
import type { ExecutorChoice } from '../../contract/policy.ts'
import type { RunOutcome } from '../../contract/run.ts'
import { hasFaultHook, reachPoint } from '../../rules/fault-points.ts'
import { processEnv, withoutCredentials } from '../../rules/settings.ts'
import { failedOutcome } from '../../runs/create-runner.ts'
import { type FromLauncher, type LauncherOptions, restoreError, serializeError, type ToLauncher } from './messages.ts'

interface Pending {
  readonly controls: RunControls
  resolve(outcome: RunOutcome): void
  reject(error: unknown): void
}

const entry = fileURLToPath(new URL('./launcher-process.js', import.meta.url))
const graceMs = 15_000
// A timer set for longer than this fires at once.
const maxMs = 2 ** 31 - 1
// From TypeScript sources there is no launcher, and the server starts processes itself.
const isBuilt = existsSync(entry)

/**
 * The process that starts the processes of tools. Forking takes time in proportion to the memory of the parent, and a
 * server holds a database and an index; the launcher holds nothing.
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
    // Only serializable options are sent.
    this.#options = { maxOutput, maxFile, containment, allowLimited, limited, allowNetwork, allowFolders, hide, warm }
    this.#where = where
  }

  /** Wraps an executor of processes so that the launcher starts them. */
  wrap(executor: Executor): Executor {
    const { kind } = executor
    if (!isBuilt || !executorKinds[kind].isProcess) return executor
    return {
      ...executor,
      prepare: (job) => {
        const prepared = executor.prepare(job)
        const { tool, input, grants } = job
        const sent = { tool, input, grants, timeoutMs: prepared.deadlineMs }
        return { ...prepared, run: (controls) => this.#run(kind, sent, controls) }
      },
    }
  }

  /** Starts the launcher, so that the first call does not wait for it. */
  start(): void {
    if (isBuilt) this.#open()
  }

  #open(): ChildProcess {
    if (this.#process !== undefined) return this.#process
    const child = fork(entry, [], {
      env: withoutCredentials(processEnv),
      execArgv: [],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    child.on('message', (message) => this.#onMessage(child, message as FromLauncher))
    // A process that failed to start emits no exit event.
    child.on('error', () => this.#lost(child))
    child.once('exit', () => this.#lost(child))
    child.unref()
    child.channel?.unref()
    this.#process = child
    this.#send(child, { type: 'start', options: { ...this.#options, points: hasFaultHook() } })
    return child
  }

  #run(kind: ExecutorKindName, job: Job & { readonly timeoutMs: number }, controls: RunControls): Promise<RunOutcome> {
    const id = ++this.#runs
    const child = this.#open()
    const { signal } = controls
    // A launcher that does not respond in time is killed, with all its runs.
    const giveUp = (): void => void child.kill('SIGKILL')
    let late = setTimeout(giveUp, Math.min(job.timeoutMs + graceMs, maxMs))
    const cancel = (): void => {
      this.#send(child, { type: 'cancel', id, atOnce: signal?.reason === killAtOnce })
      clearTimeout(late)
      late = setTimeout(giveUp, graceMs)
    }
    return new Promise<RunOutcome>((resolve, reject) => {
      this.#pending.set(id, { controls, resolve, reject })
      const { traceparent, onOutput } = controls
      const publishOutput = onOutput !== undefined
      this.#send(child, { type: 'run', id, kind, job, traceparent, where: this.#where(), publishOutput })
      signal?.addEventListener('abort', cancel, { once: true })
      if (signal?.aborted) cancel()
    }).finally(() => {
      clearTimeout(late)
      this.#pending.delete(id)
      signal?.removeEventListener('abort', cancel)
    })
  }

  #onMessage(child: ChildProcess, message: FromLauncher): void {
    if (message.type === 'point') reachPoint(message.point)
    const pending = message.type === 'point' ? undefined : this.#pending.get(message.id)
    if (pending === undefined || message.type === 'point') return
    const { controls } = pending
    if (message.type === 'output') controls.onOutput?.(message.stream, message.text)
    else if (message.type === 'progress') controls.onProgress?.(message.bytes)
    else if (message.type === 'secret') void this.#sendSecret(child, message, controls)
    else if (message.outcome !== undefined) {
      const { outcome, outputJson } = message
      pending.resolve(outputJson === undefined ? outcome : { ...outcome, output: new JsonText(outputJson) })
    } else pending.reject(message.error && restoreError(message.error))
  }

  async #sendSecret(
    child: ChildProcess,
    { requestId, reference }: Extract<FromLauncher, { type: 'secret' }>,
    controls: RunControls,
  ) {
    try {
      if (controls.secret === undefined) throw new Error('no secrets')
      this.#send(child, { type: 'secret', requestId, value: await controls.secret(reference) })
    } catch (thrown) {
      this.#send(child, { type: 'secret', requestId, error: serializeError(thrown) })
    }
  }

  #send(child: ChildProcess, message: ToLauncher): void {
    // A launcher that has exited is handled by its exit event.
    if (child.connected) child.send(message, () => {})
  }

  /** The progress of its runs is unknown, so they fail; the next run starts a new launcher. */
  #lost(child: ChildProcess): void {
    if (this.#process === child) this.#process = undefined
    if (this.#closed) return
    const outcome = failedOutcome('WORKER_LOST', 'The launcher process ended before the run.')
    for (const { resolve } of this.#pending.values()) resolve(outcome)
  }

  /** Disconnects the launcher, which then ends its runs. */
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
