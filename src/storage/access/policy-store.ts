import { and, eq, gte } from 'drizzle-orm'
import type { BundlePolicy, StoredPolicy } from '../../contract/bundle.ts'
import type { Caller, PolicyStore } from '../../contract/stores.ts'
import { readPolicy } from '../../rules/policy-rules.ts'
import type { Db } from '../database.ts'
import { guard, transact } from '../guard.ts'
import { namedRows } from '../named-rows.ts'
import { recordOffered } from '../record.ts'
import { policies } from '../schema.ts'
import { SharedReads } from '../shared-reads.ts'

const rows = namedRows(policies, 'policy')

export class DatabasePolicyStore implements PolicyStore {
  readonly #db: Db
  readonly #lists = new SharedReads<readonly StoredPolicy[]>()

  constructor(db: Db) {
    this.#db = db
  }

  list(workspace: string) {
    return this.#lists.read(workspace, () => guard(async () => (await rows.list(this.#db, workspace)).map(toPolicy)))
  }

  get(workspace: string, name: string) {
    return guard(async () => {
      const row = await rows.find(this.#db, workspace, name)
      return row === undefined ? undefined : toPolicy(row)
    })
  }

  put(caller: Caller, { name, policy }: BundlePolicy) {
    return transact(this.#db, async (db) => {
      const { before } = await rows.put(db, caller, name, { set: { policy } })
      const action = before === undefined ? 'policy.create' : 'policy.change'
      await recordOffered(db, caller, { action, subject: `policy:${name}`, before: before?.policy, after: policy })
    })
  }

  remove(caller: Caller, name: string) {
    return transact(this.#db, async (db) => {
      const { policy: before } = await rows.remove(db, caller, name)
      await recordOffered(db, caller, { action: 'policy.remove', subject: `policy:${name}`, before })
    })
  }

  changedSince(workspace: string, time: string) {
    return guard(async () => {
      const changed = await this.#db
        .select({ name: policies.name })
        .from(policies)
        .where(and(eq(policies.workspaceId, workspace), gte(policies.updatedAt, new Date(time))))
      return changed.map(({ name }) => name)
    })
  }
}

const toPolicy = ({ name, policy }: typeof policies.$inferSelect): StoredPolicy => readPolicy(name, policy)
