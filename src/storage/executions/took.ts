import { type SQL, sql } from 'drizzle-orm'

/** What the column of durations can hold: 24.8 days. */
export const maxDurationMs = 2_147_483_647

/** How long a run took by the clock of the database; what is longer than the column can hold is the most that it can. */
export const tookMs = (startedAt: SQL): SQL => sql`case when ${startedAt} is not null then
  least(greatest(round(extract(epoch from (now() - ${startedAt})) * 1000), 0), ${maxDurationMs}::int)::int end`
