import { sql } from 'drizzle-orm'
import { rowsOfResult } from '../../src/storage/database.ts'
import { type Database, openDatabase } from '../../src/storage/index.ts'
import { openMigrated } from './migrated-database.ts'

/** Where runs are recorded: a PostgreSQL, or the embedded database of a home that nobody has open. */
export interface Recorded {
  readonly url?: string | undefined
  readonly home?: string | undefined
}

/** Opens the database for a moment. */
async function withDatabase<Result>(where: Recorded, work: (database: Database) => Promise<Result>): Promise<Result> {
  const database = await openDatabase(where)
  try {
    return await work(database)
  } finally {
    await database.close()
  }
}

/** Asks the database itself. */
export const queryRuns = <Row>(where: Recorded, text: string): Promise<readonly Row[]> =>
  withDatabase(where, async ({ db }) => rowsOfResult<Row>(await db.execute(sql.raw(text))))

const history = [
  `create table test_history (at timestamptz not null default clock_timestamp(), execution_id uuid not null,
    before text, after text not null, attempt int not null, worker text)`,
  `create function test_keep_history() returns trigger language plpgsql as $$
    begin
      insert into test_history (execution_id, before, after, attempt, worker)
        values (new.id, case when tg_op = 'UPDATE' then old.status::text end, new.status::text, new.attempt, new.worker);
      return new;
    end $$`,
  `create trigger test_keep_history after insert or update of status, attempt on tool_executions
    for each row execute function test_keep_history()`,
]

/** From now on every step of every run is written down, by the database itself. */
export async function keepHistory(where: Recorded): Promise<void> {
  const database = await openMigrated(where)
  for (const statement of history) await database.db.execute(sql.raw(statement))
  await database.close()
}

const final = `('SUCCESS', 'FAILED', 'TIMEOUT', 'CANCELLED')`

/** The promises, each as a question for what breaks it; a row of any answer is a broken promise. */
const questions: Readonly<Record<string, string>> = {
  'P1 a run has not ended': `select id from tool_executions where status not in ${final}`,
  'P1 a run did not end exactly once': `select id from tool_executions e where status in ${final} and
    (select count(*) from test_history h where h.execution_id = e.id and h.after in ${final}) <> 1`,
  'P1 a run ended otherwise than its last step says': `select id from tool_executions e where status::text <>
    (select after from test_history h where h.execution_id = e.id order by at desc limit 1)`,
  'P1 a step that is not allowed': `select execution_id as id from test_history where before is not null
    and before <> after and not (before = 'PENDING' and after in ('RUNNING', 'CANCELLED'))
    and not (before = 'RUNNING' and after in ${final})`,
  'P1 a final state without its time or its reason': `select id from tool_executions where status in ${final} and
    (completed_at is null or completed_at < created_at or (status <> 'SUCCESS' and error_code is null)
      or (status = 'SUCCESS' and (error_code is not null or started_at is null or attempt = 0)))`,
  'P2 a run stayed RUNNING past its time': `select e.id from tool_executions e where started_at is not null
    and completed_at - started_at > (coalesce(timeout_ms, 30000) * attempt + 60000 * attempt) * interval '1 millisecond'`,
  'P2 a run that never began says why': `select id from tool_executions where status = 'CANCELLED' and attempt = 0
    and coalesce(error_code, '') not in ('EXECUTION_CANCELLED', 'CALLER_LOST', 'QUEUE_EXPIRED', 'APPROVAL_EXPIRED',
      'APPROVAL_REFUSED', 'SHUTTING_DOWN')`,
  'P3 tried more often than it may be': `select id from tool_executions where attempt > max_attempts`,
  'P3 begun more often than it says': `select execution_id as id from test_history h where after = 'RUNNING'
    and coalesce(before, '') in ('', 'PENDING') group by execution_id having count(*) > 1`,
  'P3 two attempts of one number': `select execution_id as id from test_history where after = 'RUNNING'
    group by execution_id, attempt having count(*) > 1`,
  'P4 an output without its run': `select r.id from execution_results r left join tool_executions e
    on e.id = r.execution_id where e.id is null or e.status not in ${final}`,
  'P5 versions with a gap': `select t.id from tools t where t.version <>
    (select count(*) from tool_versions v where v.tool_id = t.id) or t.version <>
    (select max(version) from tool_versions v where v.tool_id = t.id)`,
  'P5 not one latest version': `select t.id from tools t where
    (select count(*) from tool_versions v where v.tool_id = t.id and is_latest) <> 1 or not exists
    (select 1 from tool_versions v where v.tool_id = t.id and is_latest and v.version = t.version)`,
  'P5 a run of a version that never was': `select e.id from tool_executions e where tool_id is not null
    and not exists (select 1 from tool_versions v where v.tool_id = e.tool_id and v.version = e.version)`,
  // Tools of these tests print the mark they were given.
  'P6 a run has the output of another': `select id from tool_executions where status = 'SUCCESS'
    and input_data ->> 'mark' is not null and json_typeof(output_data) = 'string'
    and position(input_data ->> 'mark' in output_data #>> '{}') = 0`,
}

/** What is broken of the promises; nothing must still be waiting or running. */
export const auditRuns = (where: Recorded): Promise<readonly string[]> =>
  withDatabase(where, async ({ db }) => {
    const broken: string[] = []
    for (const [what, text] of Object.entries(questions)) {
      const rows = rowsOfResult<{ id: string }>(await db.execute(sql.raw(text)))
      if (rows.length > 0) broken.push(`${what}: ${rows.map(({ id }) => id).slice(0, 5)} (${rows.length})`)
    }
    return broken
  })
