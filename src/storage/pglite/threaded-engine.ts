import { Worker } from 'node:worker_threads'
import type { QueryOptions, Results } from '@electric-sql/pglite'

/** A request to the thread of the engine. */
export type EngineRequest = { readonly id: number } & EngineTask

type EngineTask =
  | {
      readonly kind: 'query'
      readonly text: string
      readonly params: readonly unknown[]
      /** `texts`: types whose values are returned as unparsed text. */
      readonly options: { readonly rowMode: 'array' | 'object'; readonly texts: readonly number[] }
      readonly transaction?: number | undefined
    }
  | { readonly kind: 'begin' | 'close' }
  | { readonly kind: 'end'; readonly transaction: number; readonly commit: boolean }
  | { readonly kind: 'listen'; readonly channel: string }
  | { readonly kind: 'unlisten'; readonly listener: number }

/** An error of the engine in a form that can be posted between threads. */
export interface EngineError {
  readonly message: string
  readonly stack: string | undefined
  readonly codes: Readonly<Record<string, unknown>>
}

/** A message of the thread: a result, an error, or a notice for a listener. */
export type EngineResponse =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: EngineError }
  | { readonly listener: number; readonly payload: string }

interface Pending {
  readonly resolve: (value: unknown) => void
  readonly reject: (reason: unknown) => void
}

type Query = (text: string, params?: unknown[], options?: QueryOptions) => Promise<Results>

/** The embedded engine in a worker thread, with the methods that the query builder calls, so that no statement blocks the event loop. */
export class ThreadedEngine {
  readonly #worker: Worker
  readonly #pending = new Map<number, Pending>()
  readonly #listeners = new Map<number, (payload: string) => void>()
  #last = 0
  #failure: Error | undefined

  private constructor(dataDir: string | undefined) {
    this.#worker = new Worker(new URL('./engine-thread.js', import.meta.url), { workerData: { dataDir } })
    this.#worker.on('message', (response: EngineResponse) => this.#receive(response))
    this.#worker.on('error', (error) => this.#fail(error))
    this.#worker.on('exit', () => this.#fail(new Error('the thread of the embedded database ended')))
  }

  static async start(dataDir: string | undefined): Promise<ThreadedEngine> {
    const engine = new ThreadedEngine(dataDir)
    try {
      await engine.#wait(0)
      return engine
    } catch (error) {
      await engine.#terminate()
      throw error
    }
  }

  query: Query = (text, params, options) => this.#query(undefined, text, params, options)

  /** Runs `work` in a transaction, which is rolled back where it fails. */
  async transaction<Result>(work: (client: { query: Query }) => Promise<Result>): Promise<Result> {
    const begun = this.#request({ kind: 'begin' })
    const transaction = this.#last
    await begun
    const end = (commit: boolean) => this.#request({ kind: 'end', transaction, commit })
    let result: Result
    try {
      result = await work({ query: (text, params, options) => this.#query(transaction, text, params, options) })
    } catch (error) {
      await end(false).catch(() => {})
      throw error
    }
    await end(true)
    return result
  }

  async listen(channel: string, onNotice: (payload: string) => void): Promise<() => Promise<void>> {
    const listening = this.#request({ kind: 'listen', channel })
    const listener = this.#last
    this.#listeners.set(listener, onNotice)
    await listening
    return async () => {
      this.#listeners.delete(listener)
      await this.#request({ kind: 'unlisten', listener })
    }
  }

  async close(): Promise<void> {
    await this.#request({ kind: 'close' })
    await this.#terminate()
  }

  /** Keeps the process running until the thread has exited: an unreferenced thread would let it end first, with code 13. */
  async #terminate(): Promise<void> {
    this.#worker.ref()
    await this.#worker.terminate()
  }

  #query(transaction: number | undefined, text: string, params: unknown[] = [], options: QueryOptions = {}) {
    const texts = Object.keys(options.parsers ?? {}).map(Number)
    const { rowMode = 'object' } = options
    return this.#request({ kind: 'query', text, params, options: { rowMode, texts }, transaction }) as Promise<Results>
  }

  #request(task: EngineTask): Promise<unknown> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure)
    const id = ++this.#last
    this.#worker.postMessage({ id, ...task })
    return this.#wait(id)
  }

  /** Keeps the process running only while requests are pending. */
  #wait(id: number): Promise<unknown> {
    if (this.#pending.size === 0) this.#worker.ref()
    return new Promise((resolve, reject) => this.#pending.set(id, { resolve, reject }))
  }

  #receive(response: EngineResponse): void {
    if ('listener' in response) {
      this.#listeners.get(response.listener)?.(response.payload)
      return
    }
    const pending = this.#pending.get(response.id)
    this.#pending.delete(response.id)
    if (this.#pending.size === 0) this.#worker.unref()
    if ('value' in response) pending?.resolve(response.value)
    else pending?.reject(toError(response.error))
  }

  /** The code marks an outage, like a closed connection. */
  #fail(cause: Error): void {
    this.#failure ??= Object.assign(new Error('the embedded database has stopped', { cause }), {
      code: 'CONNECTION_CLOSED',
    })
    for (const { reject } of this.#pending.values()) reject(this.#failure)
    this.#pending.clear()
  }
}

function toError({ message, stack, codes }: EngineError): Error {
  const error = Object.assign(new Error(message), codes)
  if (stack !== undefined) error.stack = stack
  return error
}
