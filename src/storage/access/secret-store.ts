import { and, asc, eq, sql } from 'drizzle-orm'
import { TooldexError } from '../../base/errors.ts'
import type { StoredSecret } from '../../contract/secret.ts'
import type { Caller, SecretStore } from '../../contract/stores.ts'
import type { Db } from '../database.ts'
import { guard, transact } from '../guard.ts'
import { record } from '../record.ts'
import { secrets } from '../schema-runs.ts'

/** Stores secrets that are already encrypted. */
export class DatabaseSecretStore implements SecretStore {
  readonly #db: Db

  constructor(db: Db) {
    this.#db = db
  }

  list(workspace: string) {
    return guard(async () => {
      const rows = await this.#db
        .select()
        .from(secrets)
        .where(eq(secrets.workspaceId, workspace))
        .orderBy(asc(secrets.name))
      return rows.map(toStored)
    })
  }

  find(workspace: string, name: string) {
    return guard(async () => {
      const [row] = await this.#db.select({ sealed: secrets.sealed }).from(secrets).where(hasName(workspace, name))
      return row?.sealed
    })
  }

  put(caller: Caller, name: string, sealed: string) {
    return transact(this.#db, async (db) => {
      const { workspace: workspaceId, actor: createdBy } = caller
      const [existing] = await db.select().from(secrets).where(hasName(workspaceId, name)).for('update')
      const [row] = await db
        .insert(secrets)
        .values({ workspaceId, name, sealed, createdBy })
        .onConflictDoUpdate({ target: [secrets.workspaceId, secrets.name], set: { sealed, updatedAt: sql`now()` } })
        .returning()
      const after = toStored(row as typeof secrets.$inferSelect)
      const before = existing === undefined ? null : toStored(existing)
      await record(db, caller, { action: 'secret.put', subject: `secret:${name}`, before, after })
      return after
    })
  }

  remove(caller: Caller, name: string) {
    return transact(this.#db, async (db) => {
      const [row] = await db.delete(secrets).where(hasName(caller.workspace, name)).returning()
      if (row === undefined) throw new TooldexError('NOT_FOUND', `Unknown secret: ${name.slice(0, 100)}.`)
      const before = toStored(row)
      await record(db, caller, { action: 'secret.remove', subject: `secret:${name}`, before })
      return before
    })
  }
}

const hasName = (workspace: string, name: string) => and(eq(secrets.workspaceId, workspace), eq(secrets.name, name))

const toStored = ({ name, createdAt, updatedAt, createdBy }: typeof secrets.$inferSelect): StoredSecret => ({
  name,
  createdAt: createdAt.toISOString(),
  updatedAt: updatedAt.toISOString(),
  createdBy,
})
