import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import { draft } from '../support/rest.ts'
import { audit } from './audit.ts'
import { breakUntil, type Fault } from './faults.ts'
import { seeded } from './random.ts'
import { holdings, openSite, type Site } from './site.ts'
import { callUntil, type History } from './traffic.ts'

interface SoakOptions {
  readonly seconds: number
  readonly seed: number
  readonly callers: number
  readonly pauseMs: number
  readonly faultEveryMs: number
  readonly sampleEveryMs: number
  /** Goes on after its time until so many runs are acknowledged. */
  readonly minAcknowledged?: number
}

/** What the processes that are never killed hold at one moment. */
export interface Sample {
  readonly second: number
  readonly server: ReturnType<typeof holdings>
  readonly worker: ReturnType<typeof holdings>
}

export interface SoakResult {
  readonly problems: readonly string[]
  readonly history: History
  readonly faults: ReadonlyMap<Fault, number>
  readonly samples: readonly Sample[]
  readonly states: Readonly<Record<string, number>>
}

/** Traffic and faults for a while; then all is let come to its end, and the promises are checked. */
export async function runSoak(options: SoakOptions): Promise<SoakResult> {
  const site = await openSite()
  try {
    const [steady] = site.servers()
    await steady.request('POST', '/tools', { body: draft('changing') })
    const history: History = { acknowledged: new Map(), changes: 0, calls: 0, refusals: new Map() }
    const until = Date.now() + options.seconds * 1000
    const callers = Array.from({ length: options.callers }, (_, index) =>
      callUntil(site, history, seeded(options.seed + index + 1), { ...options, name: `caller${index}`, until }),
    )
    const breaking = breakUntil(site, seeded(options.seed), { until, everyMs: options.faultEveryMs })
    const samples = await sampleUntil(site, until, options.sampleEveryMs)
    const faults = await breaking
    await Promise.all(callers)
    await settle(site)
    return { problems: await audit(site, history), history, faults, samples, states: await countStates(site) }
  } finally {
    await site.close()
  }
}

async function sampleUntil(site: Site, until: number, everyMs: number): Promise<readonly Sample[]> {
  const started = Date.now()
  const samples: Sample[] = []
  const [server] = site.servers()
  const [worker] = site.workers()
  for (; Date.now() < until; await sleep(everyMs)) {
    const second = Math.round((Date.now() - started) / 1000)
    samples.push({ second, server: holdings(server.pid), worker: holdings(worker.pid as number) })
  }
  return samples
}

// The longest timeout (30 s), lease and sweep: after that nothing may be left, so says P2.
const settleMs = 150_000

async function settle(site: Site): Promise<void> {
  const sql = postgres(site.database, { max: 1, onnotice: () => {} })
  for (const end = Date.now() + settleMs; Date.now() < end; await sleep(500)) {
    const open = await sql`select 1 from tool_executions where status in ('PENDING', 'RUNNING') limit 1`.catch(() => [
      1,
    ])
    if (open.length === 0) break
  }
  await sql.end()
}

async function countStates(site: Site): Promise<Record<string, number>> {
  const sql = postgres(site.database, { max: 1, onnotice: () => {} })
  const rows = await sql<{ state: string; count: number }[]>`select status || coalesce(' ' || error_code, '') as state,
    count(*)::int as count from tool_executions group by 1 order by 2 desc`
  await sql.end()
  return Object.fromEntries(rows.map(({ state, count }) => [state, count]))
}
