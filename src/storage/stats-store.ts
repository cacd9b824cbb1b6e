import { and, count, eq, isNull, type SQL, sql } from 'drizzle-orm'
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'
import type { RegistryCounts, StatsStore } from '../contract/stores.ts'
import { isOneOf, selectTags } from './categories/tags.ts'
import type { Database, Db } from './database.ts'
import { guard } from './guard.ts'
import { rowsOf } from './rows-of.ts'
import { apiKeys, policies, toolCategories, toolProposals, tools, toolVersions } from './schema.ts'

export class DatabaseStatsStore implements StatsStore {
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

  size() {
    return guard(async () => {
      const result = await this.#db.execute(sql`select pg_database_size(current_database())::text as bytes`)
      return { engine: this.#engine, bytes: Number(rowsOf<{ bytes: string }>(result)[0]?.bytes ?? 0) }
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
