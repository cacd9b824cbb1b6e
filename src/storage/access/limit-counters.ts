import { type SQL, sql } from 'drizzle-orm'
import type { Limit, LimitMeasure, LimitUse } from '../../contract/policy.ts'
import { storableJson } from '../../rules/storable.ts'
import { type Db, rowsOfResult } from '../database.ts'

/** A counter and the number of calls that are to be counted. */
export interface Wanted {
  readonly key: string
  readonly workspace: string
  readonly limit: Limit
  readonly subject: string
  readonly wants: number
}

/** The calls that a counter allowed, and the reason why it allowed no more. */
export interface CounterState {
  granted: number
  readonly refusal: { readonly measure: LimitMeasure; readonly retryAfter: number }
}

interface Row {
  readonly key: string
  readonly granted: number
  readonly rate_room: number | null
  readonly rate_wait: number
  readonly day_wait: number
  readonly calls: number
  readonly ms: number
  readonly bytes: number
}

/** The rows of a statement about counters. */
const wantedRows = (wanted: readonly Wanted[]): SQL => {
  const rows = wanted.map(({ key, workspace, limit, subject, wants }) => ({
    key,
    workspace,
    name: limit.name,
    subject,
    wants,
    per_minute: limit.callsPerMinute ?? null,
    max_calls: limit.callsPerDay ?? null,
    max_ms: limit.secondsPerDay === undefined ? null : limit.secondsPerDay * 1000,
    max_bytes: limit.bytesPerDay ?? null,
    max_tokens: limit.tokensPerDay ?? null,
  }))
  return sql`want as (select * from jsonb_to_recordset(${storableJson(rows)}::jsonb) as want (key text, workspace text,
    name text, subject text, wants int, per_minute float8, max_calls float8, max_ms float8, max_bytes float8, max_tokens float8))`
}

/** The day of budgets. */
export const today: SQL = sql`(now() at time zone 'UTC')::date`
const isSame = sql`u.workspace_id = want.workspace and u.limit_name = want.name and u.subject = want.subject`
// Rows are locked in one order by every statement, so that no two wait for each other.
const inOrder = sql`order by u.workspace_id, u.limit_name, u.subject for update of u`
const ofToday = (column: SQL): SQL => sql`case when u.day = ${today} then ${column} else 0 end`
/** The seconds that the calls so far still take at exactly the allowed rate. */
const debt = sql`greatest(extract(epoch from (u.rate_until - now())), 0)::float8`

/**
 * Counts as many of the wanted calls as each limit allows, in one statement. The rate is a generic cell rate: a minute's
 * calls at once, and then one each time the rate allows it.
 */
export async function takeLimitCounts(db: Db, wanted: readonly Wanted[]): Promise<Map<string, CounterState>> {
  const rows = rowsOfResult<Row>(
    await db.execute(sql`
      with ${wantedRows(wanted)}, present as materialized (
        select want.*, ${debt} as debt, ${ofToday(sql`u.calls`)} as calls, ${ofToday(sql`u.ms`)} as ms,
          ${ofToday(sql`u.bytes`)} as bytes, ${ofToday(sql`u.tokens`)} as tokens
        from limit_usage u join want on ${isSame} ${inOrder}
      ), room as (
        select *, case when per_minute = 0 then 0 else floor((60 - debt) * per_minute / 60 + 1e-6) end as rate_room,
          case when ms >= max_ms or bytes >= max_bytes or tokens >= max_tokens then 0 end as day_room
        from present
      ), decided as (
        select *, greatest(least(wants, rate_room, max_calls - calls, day_room), 0)::int as granted from room
      ), counted as (
        update limit_usage u set day = ${today}, calls = want.calls + want.granted, ms = want.ms, bytes = want.bytes,
          tokens = want.tokens, rate_until = case when want.per_minute > 0
            then now() + (want.debt + want.granted * 60 / want.per_minute) * interval '1 second' else u.rate_until end
        from decided want where ${isSame}
      )
      select key, granted, rate_room, calls, ms, bytes,
        ceil(case when per_minute > 0 then debt + 60 / per_minute - 60 else 60 end)::float8 as rate_wait,
        ceil(extract(epoch from (((${today} + 1)::timestamp at time zone 'UTC') - now())))::float8 as day_wait
      from decided`),
  )
  const limits = new Map(wanted.map(({ key, limit }) => [key, limit]))
  return new Map(rows.map((row) => [row.key, toState(row, limits.get(row.key) as Limit)]))
}

function toState(row: Row, limit: Limit): CounterState {
  const isReached = (max: number | undefined, used: number) => max !== undefined && Number(used) >= max
  const left = row.rate_room === null ? Number.POSITIVE_INFINITY : Number(row.rate_room) - row.granted
  const measure: LimitMeasure =
    limit.callsPerMinute !== undefined && left < 1
      ? 'callsPerMinute'
      : isReached(limit.callsPerDay, row.calls + row.granted)
        ? 'callsPerDay'
        : isReached(limit.secondsPerDay && limit.secondsPerDay * 1000, row.ms)
          ? 'secondsPerDay'
          : isReached(limit.bytesPerDay, row.bytes)
            ? 'bytesPerDay'
            : 'tokensPerDay'
  const wait = Number(measure === 'callsPerMinute' ? row.rate_wait : row.day_wait)
  return { granted: row.granted, refusal: { measure, retryAfter: Math.max(1, wait) } }
}

/** Creates counters that do not exist yet. */
export async function addLimitCounters(db: Db, wanted: readonly Wanted[]): Promise<void> {
  await db.execute(sql`with ${wantedRows(wanted)} insert into limit_usage (workspace_id, limit_name, subject, day)
    select workspace, name, subject, ${today} from want order by workspace, name, subject on conflict do nothing`)
}

/** Takes back calls that were counted today. */
export async function giveBackLimitCounts(db: Db, wanted: readonly Wanted[]): Promise<void> {
  await db.execute(sql`
    with ${wantedRows(wanted)}, present as materialized (
      select want.* from limit_usage u join want on ${isSame} ${inOrder}
    )
    update limit_usage u set calls = greatest(u.calls - case when u.day = ${today} then want.wants else 0 end, 0),
      rate_until = case when want.per_minute > 0
        then u.rate_until - want.wants * 60 / want.per_minute * interval '1 second' else u.rate_until end
    from present want where ${isSame}`)
}

/** The use of limits now. */
export async function readLimitCounters(
  db: Db,
  workspace: string,
  limits: readonly Limit[],
): Promise<readonly LimitUse[]> {
  const rates = new Map(limits.map(({ name, callsPerMinute = 0 }) => [name, callsPerMinute]))
  const rows = rowsOfResult<Record<string, string | number>>(
    await db.execute(sql`select limit_name, subject, ${debt} as debt, ${ofToday(sql`u.calls`)} as calls,
      ${ofToday(sql`u.ms`)} as ms, ${ofToday(sql`u.bytes`)} as bytes, ${ofToday(sql`u.tokens`)} as tokens
      from limit_usage u where workspace_id = ${workspace} order by limit_name, subject`),
  )
  return rows.map((row) => ({
    limit: String(row.limit_name),
    subject: String(row.subject),
    used: {
      callsPerMinute: Math.ceil((Number(row.debt) * (rates.get(String(row.limit_name)) ?? 0)) / 60 - 1e-6),
      callsPerDay: Number(row.calls),
      secondsPerDay: Math.round(Number(row.ms) / 100) / 10,
      bytesPerDay: Number(row.bytes),
      tokensPerDay: Number(row.tokens),
    },
  }))
}

/** Deletes the counters of earlier days and of deleted limits. */
export async function pruneLimitCounters(db: Db): Promise<void> {
  await db.execute(sql`delete from limit_usage u where u.day < ${today} - 1 or not exists (
    select 1 from limits l where l.workspace_id = u.workspace_id and l.name = u.limit_name)`)
}
