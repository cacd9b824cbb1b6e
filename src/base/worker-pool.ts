import { TooldexError } from './errors.ts'
import { currentCaller, Semaphore } from './semaphore.ts'
import { canStartThreads, WorkerThread } from './worker-thread.ts'

/** The module of the threads, and the limits of tasks. */
export interface WorkerPoolOptions<Task> {
  /** The built module that a thread runs; it calls `answerTasks`. */
  readonly module: URL
  /** Performs a task on this thread, where no threads can be started. */
  readonly here: (task: Task) => unknown
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

/** For tasks whose number is bounded elsewhere. */
export const unboundedWaiting = { waiting: Number.MAX_SAFE_INTEGER, waitingEach: Number.MAX_SAFE_INTEGER }

/** Thrown when a task exceeds its time or memory; its thread has been terminated. */
export class TaskTooLarge extends Error {}

const defaults = { threads: 3, threadsEach: 2, waiting: 50, waitingEach: 20, deadlineMs: 10_000, memoryMb: 512 }

/** Threads for work that would block all other requests; started on demand, reused, terminated at the deadline. */
export class WorkerPool<Task> {
  readonly #options: Required<WorkerPoolOptions<Task>>
  readonly #slots: Semaphore
  readonly #idle = new Set<WorkerThread>()

  constructor(options: WorkerPoolOptions<Task>) {
    this.#options = { ...defaults, ...options }
    const { threads: slots, threadsEach: slotsEach, waiting, waitingEach } = this.#options
    this.#slots = new Semaphore({ slots, slotsEach, waiting, waitingEach })
  }

  /** Runs a task in a thread, in the turn of the current caller; an aborted signal terminates the thread. */
  async run<Answer>(task: Task, signal?: AbortSignal, transfer: readonly ArrayBuffer[] = []): Promise<Answer> {
    const work = () => (canStartThreads ? this.#inThread(task, signal, transfer) : this.#options.here(task))
    return (await this.#slots.run(async () => work(), { signal, caller: currentCaller() })) as Answer
  }

  async #inThread(task: Task, signal: AbortSignal | undefined, transfer: readonly ArrayBuffer[]): Promise<unknown> {
    const thread = this.#takeThread()
    try {
      const answer = await this.#within(thread, signal, () => thread.run(task, transfer))
      this.#idle.add(thread)
      return answer
    } catch (error) {
      // An invalid input is an answer as well; after any other error the thread is not used again.
      if (error instanceof TooldexError && !thread.hasFailed) this.#idle.add(thread)
      else void thread.terminate()
      throw error
    }
  }

  #takeThread(): WorkerThread {
    for (const thread of this.#idle) {
      this.#idle.delete(thread)
      if (!thread.hasFailed) return thread
    }
    const { module, memoryMb } = this.#options
    const toFailure = (cause: NodeJS.ErrnoException) =>
      cause.code === 'ERR_WORKER_OUT_OF_MEMORY' ? new TaskTooLarge(`${memoryMb} MB of memory`) : cause
    return new WorkerThread(module, { memoryMb, toFailure })
  }

  async #within<Answer>(
    thread: WorkerThread,
    signal: AbortSignal | undefined,
    work: () => Promise<Answer>,
  ): Promise<Answer> {
    const { deadlineMs } = this.#options
    const cancel = (): void => thread.fail(cancelled())
    signal?.addEventListener('abort', cancel, { once: true })
    let late: NodeJS.Timeout | undefined
    try {
      await thread.ready
      if (signal?.aborted) throw cancelled()
      late = setTimeout(() => thread.fail(new TaskTooLarge(`${deadlineMs / 1000} s`)), deadlineMs)
      return await work()
    } finally {
      clearTimeout(late)
      signal?.removeEventListener('abort', cancel)
    }
  }
}

const cancelled = () => new TooldexError('EXECUTION_CANCELLED', 'The request was cancelled.')
