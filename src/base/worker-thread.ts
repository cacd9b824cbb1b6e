import { parentPort, Worker } from 'node:worker_threads'
import { type ErrorCode, TooldexError } from './errors.ts'
import type { Problem } from './problem.ts'

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

/** A thread of this process that performs tasks, several at once; its module calls `answerTasks`. */
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
export function answerTasks<Task>(handle: (task: Task) => unknown, ready?: Promise<unknown>): void {
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
