import type { PgDatabase, PgQueryResultHKT } from 'drizzle-orm/pg-core'
import { BoundedMap } from '../base/bounded-map.ts'
import type { RegistryState } from '../contract/stores.ts'
import type * as schema from './schema.ts'

/** The query builder of either engine, inside or outside a transaction. */
export type Db = PgDatabase<PgQueryResultHKT, typeof schema>

/** An open database. */
export interface Database {
  readonly engine: 'pglite' | 'postgres'
  /** A display name without a password. */
  readonly name: string
  readonly db: Db
  /** For work that may take minutes: migrations, export, import. Its statements have no time limit. */
  readonly slow: Db
  /** For heartbeats only: a connection that no other work can occupy, with short timeouts. */
  readonly heartbeat: Db
  listen(channel: string, onNotice: (payload: string) => void): Promise<() => Promise<void>>
  close(): Promise<void>
}

/** The rows of a raw statement; the two engines return them differently. */
export function rowsOfResult<Row>(result: unknown): readonly Row[] {
  return (Array.isArray(result) ? result : (result as { rows: Row[] }).rows) as readonly Row[]
}

/** Reads whose values are returned again while the registry is in the same state, up to a maximum number. */
export class KeptReads<Value> {
  readonly #kept: BoundedMap<string, { readonly state: RegistryState; readonly value: Promise<Value> }>

  constructor(maxKept: number) {
    this.#kept = new BoundedMap(maxKept)
  }

  /** The state must have been read before; without one, the value is read. */
  read(key: string, state: RegistryState | undefined, query: () => Promise<Value>): Promise<Value> {
    if (state === undefined) return query()
    const kept = this.#kept.get(key)
    if (kept?.state === state) return kept.value
    const value = query()
    this.#kept.set(key, { state, value })
    value.catch(() => this.#kept.delete(key))
    return value
  }
}

/** Combines equal reads of one turn of the event loop; no caller gets a value that was read before its request. */
export class SharedReads<Value> {
  readonly #waiting = new Map<string, Promise<Value>>()

  read(key: string, query: () => Promise<Value>): Promise<Value> {
    const pending = this.#waiting.get(key)
    if (pending !== undefined) return pending
    const read = new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
      this.#waiting.delete(key)
      return query()
    })
    this.#waiting.set(key, read)
    return read
  }
}
