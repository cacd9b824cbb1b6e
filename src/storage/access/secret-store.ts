import type { StoredSecret } from '../../contract/secret.ts'
import type { Caller, SecretStore } from '../../contract/stores.ts'
import type { Db } from '../database.ts'
import { guard, transact } from '../guard.ts'
import { recordOfferedChange } from '../record.ts'
import { namedRows } from '../rows.ts'
import { secrets } from '../schema-runs.ts'

const rows = namedRows(secrets, 'secret')

/** Stores secrets that are already encrypted. */
export class DatabaseSecretStore implements SecretStore {
  readonly #db: Db

  constructor(db: Db) {
    this.#db = db
  }

  list(workspace: string) {
    return guard(async () => (await rows.list(this.#db, workspace)).map(toStored))
  }

  find(workspace: string, name: string) {
    return guard(async () => (await rows.find(this.#db, workspace, name))?.sealed)
  }

  put(caller: Caller, name: string, sealed: string) {
    return transact(this.#db, async (db) => {
      const row = await rows.put(db, caller, name, { set: { sealed }, create: { createdBy: caller.actor } })
      const [before, after] = [row.before && toStored(row.before), toStored(row.after)]
      await recordOfferedChange(db, caller, { action: 'secret.put', subject: `secret:${name}`, before, after })
      return after
    })
  }

  remove(caller: Caller, name: string) {
    return transact(this.#db, async (db) => {
      const before = toStored(await rows.remove(db, caller, name))
      await recordOfferedChange(db, caller, { action: 'secret.remove', subject: `secret:${name}`, before })
      return before
    })
  }
}

const toStored = ({ name, createdAt, updatedAt, createdBy }: typeof secrets.$inferSelect): StoredSecret => ({
  name,
  createdAt: createdAt.toISOString(),
  updatedAt: updatedAt.toISOString(),
  createdBy,
})
