import { and, count, eq, isNull, type SQL, sql } from 'drizzle-orm'
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'
import type { RegistryCounts, RunStatisticsQuery, StatsStore } from '../contract/run-history.ts'
import type { ChangeFeed, Stores } from '../contract/stores.ts'
import { Toolset } from '../contract/toolset.ts'
import { DatabaseDefinitionStore } from './access/definition-store.ts'
import { DatabaseKeyStore } from './access/key-store.ts'
import { DatabaseLimitStore } from './access/limit-store.ts'
import { DatabasePolicyStore } from './access/policy-store.ts'
import { DatabaseSecretStore } from './access/secret-store.ts'
import { DatabaseSignInStore } from './access/sign-in-store.ts'
import { DatabaseSourceStore } from './access/source-store.ts'
import { DatabaseAuditStore } from './audit/audit-store.ts'
import { DatabaseCategoryStore } from './categories/category-store.ts'
import { isOneOf, selectTags } from './categories/tags.ts'
import { type Database, type Db, rowsOfResult } from './database.ts'
import { DatabaseExchangeStore } from './exchange-store.ts'
import { DatabaseExecutionStore } from './executions/execution-store.ts'
import { selectRunStatistics } from './executions/run-statistics.ts'
import { guard, transact } from './guard.ts'
import { DatabaseIdempotencyStore } from './idempotency-store.ts'
import { DatabaseLearningStore } from './learning-store.ts'
import { Cursors } from './page.ts'
import { DatabaseProposalStore } from './proposal-store.ts'
import { changeChannel } from './record.ts'
import {
  apiKeys,
  policies,
  settings,
  toolCategories,
  toolProposals,
  tools,
  toolVersions,
  workspaces,
} from './schema.ts'
import { toolsets } from './schema-access.ts'
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
    toolsets: new DatabaseDefinitionStore(db, toolsets, Toolset),
    limits: new DatabaseLimitStore(db),
    keys: new DatabaseKeyStore(db, database.listen),
    audit: new DatabaseAuditStore(db, () => cursorsOn(db)),
    answers: new DatabaseIdempotencyStore(db),
    exchanges: new DatabaseExchangeStore(db),
    executions: new DatabaseExecutionStore(db, database, () => cursorsOn(db)),
    secrets: new DatabaseSecretStore(db),
    sources: new DatabaseSourceStore(db),
    signIns: new DatabaseSignInStore(db),
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

class DatabaseStatsStore implements StatsStore {
  readonly #db: Db
  readonly #engine: Database['engine']

  constructor(db: Db, engine: Database['engine']) {
    this.#db = db
    this.#engine = engine
  }

  count(workspace: string, names?: ReadonlySet<string>) {
    return guard(async (): Promise<RegistryCounts> => {
      const matching = and(eq(tools.workspaceId, workspace), isOneOf(names))
      return {
        status: await this.#countBy(matching, tools.status),
        executorType: await this.#countBy(matching, tools.executorType),
        versions: await this.#countOf(toolVersions, toolVersions.toolId, matching),
        categories: await this.#countAll(toolCategories, eq(toolCategories.workspaceId, workspace)),
        tags: (await selectTags(this.#db, workspace, names)).length,
        policies: await this.#countAll(policies, eq(policies.workspaceId, workspace)),
        openProposals: await this.#countOf(
          toolProposals,
          toolProposals.toolId,
          and(matching, eq(toolProposals.status, 'OPEN')),
        ),
        keys: await this.#countAll(apiKeys, and(eq(apiKeys.workspaceId, workspace), isNull(apiKeys.revokedAt))),
      }
    })
  }

  runs(workspace: string, query: RunStatisticsQuery) {
    return guard(() => selectRunStatistics(this.#db, workspace, query))
  }

  size() {
    return guard(async () => {
      const result = await this.#db.execute(sql`select pg_database_size(current_database())::text as bytes`)
      return { engine: this.#engine, bytes: Number(rowsOfResult<{ bytes: string }>(result)[0]?.bytes ?? 0) }
    })
  }

  async #countAll(table: PgTable, where: ReturnType<typeof and>): Promise<number> {
    const [row] = await this.#db.select({ rows: count() }).from(table).where(where)
    return row?.rows ?? 0
  }

  async #countBy(matching: SQL | undefined, column: PgColumn): Promise<Record<string, number>> {
    const rows = await this.#db.select({ value: column, rows: count() }).from(tools).where(matching).groupBy(column)
    return Object.fromEntries(rows.map(({ value, rows: number }) => [String(value), number]))
  }

  /** Counts the rows of a table that belong to matching tools. */
  async #countOf(table: PgTable, toolId: PgColumn, matching: SQL | undefined): Promise<number> {
    const [row] = await this.#db
      .select({ rows: count() })
      .from(table)
      .innerJoin(tools, eq(tools.id, toolId))
      .where(matching)
    return row?.rows ?? 0
  }
}
