import { sql } from 'drizzle-orm'
import type { RunNotice } from '../../contract/execution.ts'
import type { Db } from '../database.ts'
import { runChannel } from './notices.ts'

/**
 * Tells other processes of runs, after what it tells is committed. PostgreSQL lets transactions with a notice commit one after
 * the other only, so notices are not part of the writes: they go out together, and never two statements at once.
 */
export class RunNotifier {
  readonly #db: Db
  #waiting = new Set<string>()
  #sending = false

  constructor(db: Db) {
    this.#db = db
  }

  tell({ kind, id }: RunNotice): void {
    // Whoever looks for work looks for all of it: one notice is as good as many.
    const isKnown = kind === 'queued' && [...this.#waiting].some((notice) => notice.startsWith('queued:'))
    if (!isKnown) this.#waiting.add(`${kind}:${id}`)
    if (!this.#sending) void this.#send()
  }

  async #send(): Promise<void> {
    this.#sending = true
    // What is told in the same moment goes together.
    await Promise.resolve()
    while (this.#waiting.size > 0) {
      const notices = JSON.stringify([...this.#waiting])
      this.#waiting = new Set()
      // One that is lost costs others a moment: they look by themselves, too.
      await this.#db
        .execute(sql`select pg_notify(${runChannel}, value) from jsonb_array_elements_text(${notices}::jsonb)`)
        .catch(() => {})
    }
    this.#sending = false
  }
}
