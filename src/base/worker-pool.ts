import { parentPort, Worker } from 'node:worker_threads'
import { type ErrorCode, TooldexError } from './errors.ts'
import type { Problem } from './problem.ts'
import { currentCaller, Semaphore } from './semaphore.ts'

/** The module of the threads, and the limits of tasks. */
export interface WorkerPoolOptions {
  /** The built module that a thread runs; it calls `answerTasks`. */
  readonly module: URL
  /** Each is a thread with memory of its own. */
  readonly threads?: number
  /** Maximum threads of one caller; one fewer than `threads` leaves one free for other callers. */
  readonly threadsEach?: number
  readonly waiting?: number
  /** Maximum waiting tasks of one caller. */
  readonly waitingEach?: number
  readonly deadlineMs?: number
  readonly memoryMb?: number
}

/** The response of a thread to a task. */
export type TaskAnswer =
  | { readonly value: unknown }
  | { readonly error: { code: ErrorCode; message: string; hint: string; problems: readonly Problem[] } }

/** Thrown when a task exceeds its time or memory; its thread has been terminated. */
export class TaskTooLarge extends Error {}

/** Threads can be started only from built modules; in tests from source the caller runs the work itself. */
export const canStartThreads: boolean = import.meta.url.endsWith('.js')

const defaults = { threads: 3, threadsEach: 2, waiting: 50, waitingEach: 20, deadlineMs: 10_000, memoryMb: 512 }

/** Threads for work that would block all other requests; started on demand, reused, terminated at the deadline. */
export class WorkerPool {
  readonly #options: Required<WorkerPoolOptions>
  readonly #slots: Semaphore
  readonly #idle = new Set<Thread>()

  constructor(options: WorkerPoolOptions) {
    this.#options = { ...defaults, ...options }
    const { threads: slots, threadsEach: slotsEach, waiting, waitingEach } = this.#options
    this.#slots = new Semaphore({ slots, slotsEach, waiting, waitingEach })
  }

  /** Runs a task in a thread, in the turn of the current caller; an aborted signal terminates the thread. */
  run<Answer>(task: unknown, signal?: AbortSignal, transfer: readonly ArrayBuffer[] = []): Promise<Answer> {
    return this.#slots.run(() => this.#runNow<Answer>(task, signal, transfer), { signal, caller: currentCaller() })
  }

  async #runNow<Answer>(
    task: unknown,
    signal: AbortSignal | undefined,
    transfer: readonly ArrayBuffer[],
  ): Promise<Answer> {
    const [idle] = this.#idle
    const thread = idle ?? new Thread(this.#options, (ended) => this.#idle.delete(ended))
    this.#idle.delete(thread)
    let answer: TaskAnswer
    try {
      answer = await thread.send(task, signal, transfer)
      this.#idle.add(thread)
    } catch (error) {
      thread.end()
      throw error
    }
    if ('value' in answer) return answer.value as Answer
    const { code, message, ...more } = answer.error
    throw new TooldexError(code, message, more)
  }
}

const cancelled = () => new TooldexError('EXECUTION_CANCELLED', 'The request was cancelled.')

interface Pending {
  readonly resolve: (answer: TaskAnswer) => void
  readonly reject: (reason: unknown) => void
}

class Thread {
  readonly #worker: Worker
  readonly #options: Required<WorkerPoolOptions>
  /** Resolves when its modules are loaded, so that the deadline covers the task only. */
  readonly #ready: Promise<unknown>
  #pending: Pending | undefined

  constructor(options: Required<WorkerPoolOptions>, onEnd: (thread: Thread) => void) {
    this.#options = options
    const { module, memoryMb } = options
    this.#worker = new Worker(module, { resourceLimits: { maxOldGenerationSizeMb: memoryMb } })
    const fail = (error: unknown): void => {
      onEnd(this)
      this.#pending?.reject(error)
    }
    this.#ready = this.#next()
    this.#worker.on('message', (answer: TaskAnswer) => this.#pending?.resolve(answer))
    this.#worker.on('error', (error: NodeJS.ErrnoException) =>
      fail(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? new TaskTooLarge(`${memoryMb} MB of memory`) : error),
    )
    this.#worker.on('exit', () => fail(new Error('the worker thread ended early')))
  }

  async send(task: unknown, signal: AbortSignal | undefined, transfer: readonly ArrayBuffer[]): Promise<TaskAnswer> {
    const { deadlineMs } = this.#options
    const cancel = (): void => this.#pending?.reject(cancelled())
    signal?.addEventListener('abort', cancel, { once: true })
    this.#worker.ref()
    let late: NodeJS.Timeout | undefined
    try {
      await this.#ready
      if (signal?.aborted) throw cancelled()
      const answer = this.#next()
      this.#worker.postMessage(task, transfer)
      late = setTimeout(() => this.#pending?.reject(new TaskTooLarge(`${deadlineMs / 1000} s`)), deadlineMs)
      return await answer
    } finally {
      clearTimeout(late)
      signal?.removeEventListener('abort', cancel)
      // An idle thread does not keep the process alive.
      this.#worker.unref()
    }
  }

  end(): void {
    void this.#worker.terminate()
  }

  #next(): Promise<TaskAnswer> {
    return new Promise((resolve, reject) => {
      this.#pending = { resolve, reject }
    })
  }
}

/** Makes this thread process the tasks of a WorkerPool, one after the other. */
export function answerTasks<Task>(handle: (task: Task) => unknown): void {
  const send = (message: TaskAnswer | 'ready'): void => parentPort?.postMessage(message)
  parentPort?.on('message', async (task: Task) => {
    try {
      send({ value: await handle(task) })
    } catch (thrown) {
      // Any other error crosses to the main thread with its stack, to be logged there.
      if (!(thrown instanceof TooldexError)) throw thrown
      const { code, message, hint, problems } = thrown
      send({ error: { code, message, hint, problems } })
    }
  })
  send('ready')
}
