import { parentPort, Worker } from 'node:worker_threads'
import { type ErrorCode, TooldexError } from './errors.ts'
import type { Problem } from './problem.ts'
import { currentCaller, Semaphore } from './semaphore.ts'

/** Threads can be started only from built modules; in tests from source the caller does the work itself. */
export const canStartThreads: boolean = import.meta.url.endsWith('.js')

/** An error in a form that can be posted between threads; those of Tooldex have a hint and problems. */
type ThreadError =
  | { readonly code: ErrorCode; readonly message: string; readonly hint: string; readonly problems: readonly Problem[] }
  | { readonly message: string; readonly stack: string | undefined; readonly codes: Readonly<Record<string, unknown>> }

type ThreadMessage =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: ThreadError }
  | { readonly event: unknown }

/** The data, the memory and the listeners of a thread. */
export interface ThreadOptions {
  readonly workerData?: unknown
  readonly memoryMb?: number
  /** The part of the memory for short-lived values, which the default lets grow to 48 MB. */
  readonly youngMb?: number
  /** Whether the thread gets neither the environment nor the flags of the process. */
  readonly isBare?: boolean
  readonly onEvent?: (event: unknown) => void
  /** Called with the error of a thread that ended; its result rejects the pending and all later tasks. */
  readonly toFailure?: (cause: NodeJS.ErrnoException) => Error
}

interface Pending {
  readonly resolve: (value: unknown) => void
  readonly reject: (reason: unknown) => void
}

/** A thread of this process that performs tasks, several at once; its module calls `serveThreadTasks`. */
export class WorkerThread {
  readonly #worker: Worker
  readonly #pending = new Map<number, Pending>()
  readonly #options: ThreadOptions
  /** Resolves when its modules are loaded, so that a deadline can cover the task only. */
  readonly ready: Promise<unknown>
  #last = 0
  #failure: unknown

  constructor(module: URL, options: ThreadOptions = {}) {
    this.#options = options
    const { workerData, memoryMb, youngMb, isBare = false } = options
    const resourceLimits = {
      ...(memoryMb !== undefined && { maxOldGenerationSizeMb: memoryMb }),
      ...(youngMb !== undefined && { maxYoungGenerationSizeMb: youngMb }),
    }
    this.#worker = new Worker(module, { workerData, resourceLimits, ...(isBare && { env: {}, execArgv: [] }) })
    this.#worker.on('message', (message: ThreadMessage) => this.#receive(message))
    // A message that cannot be read here would leave its task pending.
    this.#worker.on('messageerror', (error) => this.#end(error))
    this.#worker.on('error', (error) => this.#end(error))
    this.#worker.on('exit', () => this.#end(new Error('the worker thread ended early')))
    this.ready = this.#wait(0)
    // Not every owner awaits it, and an unhandled rejection would end the process.
    this.ready.catch(() => {})
  }

  get hasFailed(): boolean {
    return this.#failure !== undefined
  }

  run(task: unknown, transfer: readonly ArrayBuffer[] = []): Promise<unknown> {
    if (this.hasFailed) return Promise.reject(this.#failure)
    const id = ++this.#last
    this.#worker.postMessage({ id, task }, transfer)
    return this.#wait(id)
  }

  /** Rejects the pending and all later tasks. */
  fail(reason: unknown): void {
    this.#failure ??= reason
    for (const { reject } of this.#pending.values()) reject(this.#failure)
    this.#pending.clear()
  }

  /** Keeps the process running until the thread has exited: an unreferenced thread would let it end first, with code 13. */
  async terminate(): Promise<void> {
    this.#worker.ref()
    await this.#worker.terminate()
  }

  #end(cause: NodeJS.ErrnoException): void {
    this.fail(this.#options.toFailure?.(cause) ?? cause)
  }

  /** Keeps the process running only while tasks are pending. */
  #wait(id: number): Promise<unknown> {
    if (this.#pending.size === 0) this.#worker.ref()
    return new Promise((resolve, reject) => this.#pending.set(id, { resolve, reject }))
  }

  #receive(message: ThreadMessage): void {
    if ('event' in message) {
      this.#options.onEvent?.(message.event)
      return
    }
    const pending = this.#pending.get(message.id)
    this.#pending.delete(message.id)
    if (this.#pending.size === 0) this.#worker.unref()
    if ('value' in message) pending?.resolve(message.value)
    else pending?.reject(fromThreadError(message.error))
  }
}

/** Makes this thread perform the tasks of a `WorkerThread`, once it is ready. */
export function serveThreadTasks<Task>(handle: (task: Task) => unknown, ready?: Promise<unknown>): void {
  const answer = async (id: number, work: () => unknown): Promise<void> => {
    try {
      send({ id, value: await work() })
    } catch (thrown) {
      send({ id, error: toThreadError(thrown) })
    }
  }
  parentPort?.on('message', ({ id, task }: { id: number; task: Task }) => answer(id, () => handle(task)))
  void answer(0, async () => void (await ready))
}

/** Sends an event from this thread to the `onEvent` of its owner. */
export const sendEvent = (event: unknown): void => send({ event })

const send = (message: ThreadMessage): void => parentPort?.postMessage(message)

/** Copies an error with its codes, which `postMessage` would drop, but without the statement of a database. */
function toThreadError(thrown: unknown): ThreadError {
  if (thrown instanceof TooldexError) {
    const { code, message, hint, problems } = thrown
    return { code, message, hint, problems }
  }
  const { message, stack, query: _, ...rest } = thrown as Error & Record<string, unknown>
  const codes = Object.entries(rest).filter(([, value]) => typeof value === 'string' || typeof value === 'number')
  return { message: message ?? String(thrown), stack, codes: Object.fromEntries(codes) }
}

function fromThreadError(error: ThreadError): Error {
  if ('code' in error)
    return new TooldexError(error.code, error.message, { hint: error.hint, problems: error.problems })
  return Object.assign(new Error(error.message), error.codes, error.stack !== undefined && { stack: error.stack })
}

/** The module of the threads, and the limits of tasks. */
export interface WorkerPoolOptions<Task> {
  /** The built module that a thread runs; it calls `serveThreadTasks`. */
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
