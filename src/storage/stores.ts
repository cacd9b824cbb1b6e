import { eq, sql } from 'drizzle-orm'
import type { ChangeFeed, Stores } from '../contract/stores.ts'
import { DatabaseAuditStore } from './access/audit-store.ts'
import { DatabaseKeyStore } from './access/key-store.ts'
import { DatabasePolicyStore } from './access/policy-store.ts'
import { DatabaseSecretStore } from './access/secret-store.ts'
import { DatabaseCategoryStore } from './categories/category-store.ts'
import type { Database, Db } from './database.ts'
import { DatabaseExecutionStore } from './executions/execution-store.ts'
import { guard, transact } from './guard.ts'
import { DatabaseIdempotencyStore } from './idempotency-store.ts'
import { DatabaseLearningStore } from './learning-store.ts'
import { Cursors } from './page.ts'
import { DatabaseProposalStore } from './proposal-store.ts'
import { changeChannel } from './record.ts'
import { settings, workspaces } from './schema.ts'
import { DatabaseStatsStore } from './stats-store.ts'
import { DatabaseToolStore } from './tools/tool-store.ts'

/** Creates the stores of a database. */
export function createStores(database: Database): Stores {
  const cursorsOn = cacheCursors()
  const feed = feedOf(database)
  const on = (db: Db): Stores => ({
    tools: new DatabaseToolStore(db, () => cursorsOn(db)),
    categories: new DatabaseCategoryStore(db),
    proposals: new DatabaseProposalStore(db, () => cursorsOn(db)),
    policies: new DatabasePolicyStore(db),
    keys: new DatabaseKeyStore(db, database.listen),
    audit: new DatabaseAuditStore(db, () => cursorsOn(db)),
    answers: new DatabaseIdempotencyStore(db),
    executions: new DatabaseExecutionStore(db, database, () => cursorsOn(db)),
    secrets: new DatabaseSecretStore(db),
    learning: new DatabaseLearningStore(db),
    stats: new DatabaseStatsStore(db, database.engine),
    feed,
    transaction: (work, options) => transact(db, (inner) => work(on(inner)), options),
    ping: async () => void (await guard(() => db.execute(sql`select 1`))),
  })
  return on(database.db)
}

/** The secret of cursors never changes, so it is read once; on the connection of the transaction, because another one may have to wait. */
function cacheCursors(): (db: Db) => Promise<Cursors> {
  let cached: Cursors | undefined
  return async (db) => {
    if (cached !== undefined) return cached
    const [row] = await db.select().from(settings).where(eq(settings.name, 'cursor_secret'))
    cached = new Cursors(String(row?.value))
    return cached
  }
}

const feedOf = ({ db, listen }: Database): ChangeFeed => ({
  version: (workspace) =>
    guard(async () => {
      const [row] = await db
        .select({ changes: workspaces.changes })
        .from(workspaces)
        .where(eq(workspaces.id, workspace))
      return row?.changes ?? 0
    }),
  listen: (onNotice) => listen(changeChannel, onNotice),
})
