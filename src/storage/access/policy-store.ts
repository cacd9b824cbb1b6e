import { and, eq, gte, sql } from 'drizzle-orm'
import { TooldexError } from '../../base/errors.ts'
import { sameJson } from '../../base/json-values.ts'
import type { BundlePolicy, StoredPolicy } from '../../contract/bundle.ts'
import type { Caller, PolicyStore, RegistryState } from '../../contract/stores.ts'
import { parseStoredPolicy } from '../../rules/stored-policy.ts'
import { type Db, KeptReads, SharedReads } from '../database.ts'
import { guard, transact } from '../guard.ts'
import { record, recordOfferedChange } from '../record.ts'
import { namedRows } from '../rows.ts'
import { policies } from '../schema.ts'

const rows = namedRows(policies, 'policy')
/** The maximum number of workspaces whose policies are kept. */
const maxKept = 100

export class DatabasePolicyStore implements PolicyStore {
  readonly #db: Db
  readonly #lists = new SharedReads<readonly StoredPolicy[]>()
  readonly #kept = new KeptReads<readonly StoredPolicy[]>(maxKept)
  #all: ReturnType<typeof prepareList> | undefined

  constructor(db: Db) {
    this.#db = db
  }

  list(workspace: string, state?: RegistryState) {
    const read = async () => {
      this.#all ??= prepareList(this.#db)
      return (await this.#all.execute({ workspace })).map(toPolicy)
    }
    return this.#kept.read(workspace, state, () => this.#lists.read(workspace, () => guard(read)))
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
      await recordOfferedChange(db, caller, {
        action,
        subject: `policy:${name}`,
        before: before?.policy,
        after: policy,
      })
    })
  }

  remove(caller: Caller, name: string) {
    return transact(this.#db, async (db) => {
      const { policy: before } = await rows.remove(db, caller, name)
      await recordOfferedChange(db, caller, { action: 'policy.remove', subject: `policy:${name}`, before })
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

/** The query of every call is prepared once. */
const prepareList = (db: Db) =>
  db
    .select()
    .from(policies)
    .where(eq(policies.workspaceId, sql.placeholder('workspace')))
    .orderBy(policies.name)
    .prepare('policies_of_workspace')

const toPolicy = ({ name, policy }: typeof policies.$inferSelect): StoredPolicy => parseStoredPolicy(name, policy)

/** Copies the rules of stored policies to the new name of a tool; they stay for the old name, in case another tool takes it. */
export async function renameInPolicies(db: Db, caller: Caller, from: string, to: string): Promise<void> {
  const { workspace } = caller
  const rows = await db.select().from(policies).where(eq(policies.workspaceId, workspace)).for('update')
  for (const { name, policy } of rows) {
    const tools = (policy.tools ?? {}) as Record<string, unknown>
    if (!Object.hasOwn(tools, from)) continue
    if (Object.hasOwn(tools, to)) {
      if (!sameJson(tools[from], tools[to])) throw differentRules(name, from, to)
      continue
    }
    const after = { ...policy, tools: { ...tools, [to]: tools[from] } }
    await db
      .update(policies)
      .set({ policy: after, updatedAt: sql`now()` })
      .where(and(eq(policies.workspaceId, workspace), eq(policies.name, name)))
    await record(db, caller, { action: 'policy.change', subject: `policy:${name}`, before: policy, after })
  }
}

const differentRules = (policy: string, from: string, to: string): TooldexError =>
  new TooldexError('IN_USE', `The policy ${policy} has different rules for ${from} and ${to}.`, {
    hint: 'Change the policy first: make the rules the same, or remove one.',
  })
