import type { QueryOptions, Results } from '@electric-sql/pglite'
import { WorkerThread } from '../../base/worker-thread.ts'

/** A task of the thread of the engine; transactions and listeners are numbered by this side. */
export type EngineTask =
  | {
      readonly kind: 'query'
      readonly text: string
      readonly params: readonly unknown[]
      /** `texts`: types whose values are returned as unparsed text. */
      readonly options: { readonly rowMode: 'array' | 'object'; readonly texts: readonly number[] }
      readonly transaction?: number | undefined
    }
  | { readonly kind: 'begin'; readonly transaction: number }
  | { readonly kind: 'end'; readonly transaction: number; readonly commit: boolean }
  | { readonly kind: 'listen'; readonly listener: number; readonly channel: string }
  | { readonly kind: 'unlisten'; readonly listener: number }
  | { readonly kind: 'close' }

/** A notice for a listener. */
export interface EngineNotice {
  readonly listener: number
  readonly payload: string
}

type Query = (text: string, params?: unknown[], options?: QueryOptions) => Promise<Results>

/** The embedded engine in a worker thread, with the methods that the query builder calls, so that no statement blocks the event loop. */
export class ThreadedEngine {
  readonly #thread: WorkerThread
  readonly #listeners = new Map<number, (payload: string) => void>()
  #last = 0

  private constructor(dataDir: string | undefined) {
    this.#thread = new WorkerThread(new URL('./engine-thread.js', import.meta.url), {
      workerData: { dataDir },
      // The rows of the engine are outside of the heap of JavaScript.
      youngMb: 6,
      onEvent: (event) => {
        const { listener, payload } = event as EngineNotice
        this.#listeners.get(listener)?.(payload)
      },
      // The code marks an outage, like a closed connection.
      toFailure: (cause) =>
        Object.assign(new Error('the embedded database has stopped', { cause }), { code: 'CONNECTION_CLOSED' }),
    })
  }

  static async start(dataDir: string | undefined): Promise<ThreadedEngine> {
    const engine = new ThreadedEngine(dataDir)
    try {
      await engine.#thread.ready
      return engine
    } catch (error) {
      await engine.#thread.terminate()
      throw error
    }
  }

  query: Query = (text, params, options) => this.#query(undefined, text, params, options)

  /** Runs `work` in a transaction, which is rolled back where it fails. */
  async transaction<Result>(work: (client: { query: Query }) => Promise<Result>): Promise<Result> {
    const transaction = ++this.#last
    await this.#run({ kind: 'begin', transaction })
    const end = (commit: boolean) => this.#run({ kind: 'end', transaction, commit })
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
    const listener = ++this.#last
    this.#listeners.set(listener, onNotice)
    await this.#run({ kind: 'listen', listener, channel })
    return async () => {
      this.#listeners.delete(listener)
      await this.#run({ kind: 'unlisten', listener })
    }
  }

  async close(): Promise<void> {
    await this.#run({ kind: 'close' })
    await this.#thread.terminate()
  }

  #query(transaction: number | undefined, text: string, params: unknown[] = [], options: QueryOptions = {}) {
    const texts = Object.keys(options.parsers ?? {}).map(Number)
    const { rowMode = 'object' } = options
    return this.#run({ kind: 'query', text, params, options: { rowMode, texts }, transaction }) as Promise<Results>
  }

  #run(task: EngineTask): Promise<unknown> {
    return this.#thread.run(task)
  }
}
