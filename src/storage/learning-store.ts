import { createHash } from 'node:crypto'
import { and, asc, count, eq, gte, sql } from 'drizzle-orm'
import type { LearnedQuery, LearningStore } from '../contract/search.ts'
import type { Caller } from '../contract/stores.ts'
import type { Db } from './database.ts'
import { guard, transact } from './guard.ts'
import { record } from './record.ts'
import { learnedQueries } from './schema.ts'

/** The limits of a workspace. Many rows are deleted at once, so that readers rarely have to reload everything. */
export const learningBounds = { maxRows: 5000, leftRows: 4500, maxCharacters: 2000 }

/** Learned queries in the database. */
export class DatabaseLearningStore implements LearningStore {
  readonly #db: Db
  readonly #bounds: typeof learningBounds

  constructor(db: Db, bounds = learningBounds) {
    this.#db = db
    this.#bounds = bounds
  }

  async note(workspaceId: string, text: string, toolId: string): Promise<void> {
    const query = storable(text.slice(0, this.#bounds.maxCharacters))
    const queryHash = createHash('sha256').update(query).digest('hex')
    await transact(this.#db, async (db) => {
      await db
        .insert(learnedQueries)
        .values({ workspaceId, queryHash, toolId, query })
        .onConflictDoUpdate({
          target: [learnedQueries.workspaceId, learnedQueries.queryHash, learnedQueries.toolId],
          set: { successes: sql`${learnedQueries.successes} + 1`, updatedAt: sql`now()` },
        })
      await this.#prune(db, workspaceId)
    })
  }

  async since(workspace: string, moment?: string) {
    return guard(async () => {
      const own = eq(learnedQueries.workspaceId, workspace)
      const [counted] = await this.#db.select({ total: count() }).from(learnedQueries).where(own)
      const rows = await this.#db
        .select()
        .from(learnedQueries)
        .where(moment === undefined ? own : and(own, gte(learnedQueries.updatedAt, new Date(moment))))
        .orderBy(asc(learnedQueries.updatedAt), asc(learnedQueries.queryHash), asc(learnedQueries.toolId))
      return { items: rows.map(toLearned), total: counted?.total ?? 0 }
    })
  }

  forget(caller: Caller): Promise<number> {
    return transact(this.#db, async (db) => {
      const deleted = await db
        .delete(learnedQueries)
        .where(eq(learnedQueries.workspaceId, caller.workspace))
        .returning({ tool: learnedQueries.toolId })
      const [before, after] = [{ count: deleted.length }, { count: 0 }]
      await record(db, caller, { action: 'learning.forget', subject: 'learning', before, after })
      return deleted.length
    })
  }

  async #prune(db: Db, workspace: string): Promise<void> {
    const { maxRows, leftRows } = this.#bounds
    const total = await db.$count(learnedQueries, eq(learnedQueries.workspaceId, workspace))
    if (total <= maxRows) return
    await db.execute(sql`delete from ${learnedQueries} where ctid in (
      select ctid from ${learnedQueries} where workspace_id = ${workspace}
      order by updated_at, query_hash, tool_id limit ${total - leftRows})`)
  }
}

/** PostgreSQL cannot store U+0000 or unpaired surrogates. */
const storable = (text: string): string => Buffer.from(text.replaceAll('\0', ' ')).toString()

const toLearned = ({ query, toolId, successes, updatedAt }: typeof learnedQueries.$inferSelect): LearnedQuery => ({
  query,
  toolId,
  successes,
  learnedAt: updatedAt.toISOString(),
})
