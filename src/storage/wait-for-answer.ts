import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'drizzle-orm'
import { TooldexError } from '../base/errors.ts'
import type { Database } from './database.ts'
import { guard } from './guard.ts'

const pauseMs = 250

/** Waits for a database that is not up yet; after `ms` the last reason is thrown, naming the database. */
export async function waitForAnswer(
  { db, name }: Database,
  { ms, onWait, signal }: { ms: number; onWait?: (reason: string) => void; signal?: AbortSignal | undefined },
): Promise<void> {
  const end = performance.now() + ms
  for (let told = false; ; ) {
    try {
      await guard(() => db.execute(sql`select 1`))
      return
    } catch (thrown) {
      const reason = thrown instanceof TooldexError ? thrown.message : 'The database does not answer.'
      const forGood =
        !(thrown instanceof TooldexError) || thrown.code !== 'UNAVAILABLE' || thrown.hint.includes('DATABASE_URL')
      if (forGood || performance.now() + pauseMs > end)
        throw new TooldexError('UNAVAILABLE', `${reason} (${name})`, {
          hint: 'Start the database, or check DATABASE_URL.',
          cause: thrown,
        })
      if (!told) onWait?.(`${reason} (${name})`)
      told = true
      await sleep(pauseMs, undefined, { signal })
    }
  }
}
