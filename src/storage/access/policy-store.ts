import { and, eq, gte, sql } from 'drizzle-orm'
import { TooldexError } from '../../base/errors.ts'
import type { BundlePolicy, StoredPolicy } from '../../contract/bundle.ts'
import type { Caller, PolicyStore } from '../../contract/stores.ts'
import { readPolicy } from '../../rules/policy-rules.ts'
import type { Db } from '../database.ts'
import { guard } from '../guard.ts'
import { announce, record } from '../record.ts'
import { policies } from '../schema.ts'
import { SharedReads } from '../shared-reads.ts'

export class DatabasePolicyStore implements PolicyStore {
  readonly #db: Db
  readonly #lists = new SharedReads<readonly StoredPolicy[]>()

  constructor(db: Db) {
    this.#db = db
  }

  list(workspace: string) {
    return this.#lists.read(workspace, () =>
      guard(async () => {
        const rows = await this.#db
          .select()
          .from(policies)
          .where(eq(policies.workspaceId, workspace))
          .orderBy(policies.name)
        return rows.map(toPolicy)
      }),
    )
  }

  get(workspace: string, name: string) {
    return guard(async () => {
      const [row] = await this.#db.select().from(policies).where(hasName({ workspace }, name))
      return row === undefined ? undefined : toPolicy(row)
    })
  }

  put(caller: Caller, { name, policy }: BundlePolicy) {
    return this.#change(async (db) => {
      const [row] = await db.select().from(policies).where(hasName(caller, name)).for('update')
      await db
        .insert(policies)
        .values({ workspaceId: caller.workspace, name, policy })
        .onConflictDoUpdate({ target: [policies.workspaceId, policies.name], set: { policy, updatedAt: sql`now()` } })
      const action = row === undefined ? 'policy.create' : 'policy.change'
      await record(db, caller, { action, subject: `policy:${name}`, before: row?.policy, after: policy })
      await announce(db, caller.workspace)
    })
  }

  remove(caller: Caller, name: string) {
    return this.#change(async (db) => {
      const [row] = await db.delete(policies).where(hasName(caller, name)).returning()
      if (row === undefined) throw new TooldexError('NOT_FOUND', `Unknown policy: ${name.slice(0, 200)}.`)
      await record(db, caller, { action: 'policy.remove', subject: `policy:${name}`, before: row.policy })
      await announce(db, caller.workspace)
    })
  }

  changedSince(workspace: string, time: string) {
    return guard(async () => {
      const rows = await this.#db
        .select({ name: policies.name })
        .from(policies)
        .where(and(eq(policies.workspaceId, workspace), gte(policies.updatedAt, new Date(time))))
      return rows.map(({ name }) => name)
    })
  }

  #change(work: (db: Db) => Promise<void>): Promise<void> {
    return guard(() => this.#db.transaction((transaction) => work(transaction as unknown as Db)))
  }
}

const hasName = ({ workspace }: Pick<Caller, 'workspace'>, name: string) =>
  and(eq(policies.workspaceId, workspace), eq(policies.name, name))

const toPolicy = ({ name, policy }: typeof policies.$inferSelect): StoredPolicy => readPolicy(name, policy)
