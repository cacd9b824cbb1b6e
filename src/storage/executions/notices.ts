import { sql } from 'drizzle-orm'
import type { RunNotice } from '../../contract/execution.ts'
import type { Db } from '../database.ts'

/** The channel for notices about runs. */
export const runChannel = 'tooldex_runs'

/** Parses a notice; undefined where the payload is not a valid one. */
export function readNotice(payload: string): RunNotice | undefined {
  const [kind, id] = payload.split(':')
  if (id === undefined || (kind !== 'queued' && kind !== 'cancel' && kind !== 'changed')) return undefined
  return { kind, id }
}

/**
 * Sends notices about runs to other processes after the commit. PostgreSQL serializes the commits of transactions with a notice,
 * so notices are not part of the writes: they are sent in batches, one statement at a time.
 */
export class RunNotifier {
  readonly #db: Db
  #waiting = new Set<string>()
  #flushing = false

  constructor(db: Db) {
    this.#db = db
  }

  send({ kind, id }: RunNotice): void {
    // A worker claims all waiting runs, so one notice about queued runs is enough.
    const isPending = kind === 'queued' && [...this.#waiting].some((notice) => notice.startsWith('queued:'))
    if (!isPending) this.#waiting.add(`${kind}:${id}`)
    if (!this.#flushing) void this.#flush()
  }

  async #flush(): Promise<void> {
    this.#flushing = true
    // Notices of the same moment are sent together.
    await Promise.resolve()
    while (this.#waiting.size > 0) {
      const notices = JSON.stringify([...this.#waiting])
      this.#waiting = new Set()
      // A lost notice only delays other processes, because they also poll.
      await this.#db
        .execute(sql`select pg_notify(${runChannel}, value) from jsonb_array_elements_text(${notices}::jsonb)`)
        .catch(() => {})
    }
    this.#flushing = false
  }
}
