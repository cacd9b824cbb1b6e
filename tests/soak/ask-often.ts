import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import autocannon from 'autocannon'
import { expect } from 'vitest'

/** What came back under load. */
export interface Pressed {
  readonly perSecond: number
  readonly p99: number
}

/** Asks one address from sixteen connections at once, for so many seconds; nothing may be refused. */
export async function askOften(url: string, key: string, seconds: number): Promise<Pressed> {
  const headers = { authorization: `Bearer ${key}` }
  const { requests, latency, non2xx, errors } = await autocannon({ url, headers, connections: 16, duration: seconds })
  expect(non2xx + errors).toBe(0)
  return { perSecond: requests.average, p99: Math.max(latency.p99, 1) }
}

/** The least that answers from a database; to be ended by whoever started it. */
export async function startFloor(database: string): Promise<{ readonly url: string; readonly child: ChildProcess }> {
  const child = spawn(process.execPath, [fileURLToPath(new URL('../support/floor.mjs', import.meta.url))], {
    env: { ...process.env, DATABASE_URL: database },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [said] = await once(child.stdout, 'data')
  return { url: String(said).trim(), child }
}
