import postgres from 'postgres'
import { expect } from 'vitest'
import type { Stores } from '../../src/contract/stores.ts'
import { createStores, migrate, openDatabase } from '../../src/storage/index.ts'
import { startPostgres } from '../support/start-postgres.ts'

const workspace = 'default'
const listMs = 250
const batchMs = 5000

/** Many finished runs, one of them with an output of 100 MB: lists stay quick, and old ones go in small steps. */
export async function tryManyExecutions(count: number, keep: number): Promise<void> {
  const server = await startPostgres()
  try {
    const url = await server.createDatabase()
    const database = await openDatabase({ url })
    await migrate(database)
    await fill(url, count)
    const stores = createStores(database)
    await checkLists(stores)
    await checkRetention(stores, url, { count, keep })
    await database.close()
  } finally {
    await server.stop()
  }
}

async function fill(url: string, count: number): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  await sql.unsafe(`insert into tool_executions (workspace_id, tool_name, status, input_data, output_data, caller_id,
      trace_id, attempt, created_at, started_at, completed_at, duration_ms)
    select 'default', 'tool_' || n % 50, (case when n % 10 = 0 then 'FAILED' else 'SUCCESS' end)::execution_status, '{}',
      '"hello"', 'key:' || n % 7, case when n % 1000 = 0 then 'trace-' || n end, 1,
      now() - n * interval '1 second', now() - n * interval '1 second', now() - n * interval '1 second', 5
    from generate_series(1, ${count}) n`)
  await sql.unsafe(`insert into tool_executions (workspace_id, tool_name, status, input_data, output_data, attempt)
    values ('default', 'huge', 'SUCCESS', '{}', to_jsonb(repeat('x', 100000000)), 1)`)
  await sql`analyze tool_executions`
  await sql.end()
}

async function checkLists({ executions }: Stores): Promise<void> {
  const queries = [
    {},
    { tool: 'tool_7' },
    { status: ['FAILED' as const] },
    { caller: 'key:3' },
    { trace: 'trace-5000' },
    { tool: 'tool_9', status: ['FAILED' as const], caller: 'key:1' },
  ]
  for (const query of queries) {
    const times: number[] = []
    let cursor: string | undefined
    for (let round = 0; round < 100; round++) {
      const started = performance.now()
      const page = await executions.list(workspace, { ...query, limit: 20, ...(cursor && { cursor }) })
      times.push(performance.now() - started)
      cursor = page.nextCursor
    }
    times.sort((a, b) => a - b)
    // The last of a hundred is what happened to the machine, not to the list.
    expect(times[98], JSON.stringify(query)).toBeLessThan(listMs)
  }
}

async function checkRetention(
  { executions }: Stores,
  url: string,
  { count, keep }: { count: number; keep: number },
): Promise<void> {
  let [deleted, steps] = [0, 0]
  for (let more = 1; more > 0; steps++) {
    const started = performance.now()
    more = await executions.prune({ days: 3650, maxRows: keep })
    expect(performance.now() - started).toBeLessThan(batchMs)
    expect(more).toBeLessThanOrEqual(4000)
    deleted += more
  }
  expect(steps).toBeLessThanOrEqual(Math.ceil((count + 1 - keep) / 2000) + 2)
  expect(deleted).toBe(count + 1 - keep)
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  const [left] = await sql`select count(*)::int as count, (count(*) filter (where tool_name = 'huge'))::int as huge,
    max(extract(epoch from now() - created_at))::int as oldest from tool_executions`
  await sql.end()
  expect(left).toMatchObject({ count: keep, huge: 1 })
  // What is kept is the newest.
  expect(Number(left?.oldest)).toBeLessThan(keep + 3600)
}
