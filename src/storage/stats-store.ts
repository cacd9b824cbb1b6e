import { and, count, eq, isNull, sql } from 'drizzle-orm'
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'
import type { RegistryCounts, StatsStore } from '../contract/stores.ts'
import type { Database, Db } from './database.ts'
import { guard } from './guard.ts'
import { rowsOf } from './rows-of.ts'
import { apiKeys, policies, toolCategories, toolProposals, tools, toolVersions } from './schema.ts'
import { listTags } from './tags.ts'

/** How much there is, counted in the database. */
export class DatabaseStatsStore implements StatsStore {
  readonly #db: Db
  readonly #engine: Database['engine']

  constructor(db: Db, engine: Database['engine']) {
    this.#db = db
    this.#engine = engine
  }

  count(workspace: string) {
    return guard(async (): Promise<RegistryCounts> => {
      const isOpen = eq(toolProposals.status, 'OPEN')
      return {
        status: await this.#countBy(workspace, tools.status),
        executorType: await this.#countBy(workspace, tools.executorType),
        versions: await this.#countVersions(workspace),
        categories: await this.#countAll(toolCategories, eq(toolCategories.workspaceId, workspace)),
        tags: (await listTags(this.#db, workspace)).length,
        policies: await this.#countAll(policies, eq(policies.workspaceId, workspace)),
        openProposals: await this.#countAll(toolProposals, and(eq(toolProposals.workspaceId, workspace), isOpen)),
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

  async #countBy(workspace: string, column: PgColumn): Promise<Record<string, number>> {
    const rows = await this.#db
      .select({ value: column, rows: count() })
      .from(tools)
      .where(eq(tools.workspaceId, workspace))
      .groupBy(column)
    return Object.fromEntries(rows.map(({ value, rows: number }) => [String(value), number]))
  }

  async #countVersions(workspace: string): Promise<number> {
    const [row] = await this.#db
      .select({ rows: count() })
      .from(toolVersions)
      .innerJoin(tools, eq(tools.id, toolVersions.toolId))
      .where(eq(tools.workspaceId, workspace))
    return row?.rows ?? 0
  }
}
