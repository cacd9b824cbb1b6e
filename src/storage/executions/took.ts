import { type SQL, sql } from 'drizzle-orm'

/** The maximum of the duration column: 24.8 days. */
export const maxDurationMs = 2_147_483_647

/** The duration of a run by the clock of the database, limited to the maximum of the column. */
export const tookMs = (startedAt: SQL): SQL => sql`case when ${startedAt} is not null then
  least(greatest(round(extract(epoch from (now() - ${startedAt})) * 1000), 0), ${maxDurationMs}::int)::int end`
