import { expect } from 'vitest'
import { auditRuns, keepHistory, queryRuns } from '../support/audit-runs.ts'
import { startServer, type TestServer } from '../support/start-server.ts'
import { startWorker, type TestWorker } from '../support/start-worker.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { execute, TracedTools, untilQuiet } from '../support/traced-tools.ts'

interface Made {
  readonly mark: string
  readonly tool: 'once' | 'safe'
  /** What the caller was told; nothing where the server was killed. */
  readonly told: { readonly id: string; readonly status: string } | undefined
}

/** Numbers that are the same for the same seed. */
function createRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

const env = { TOOLDEX_LEASE_MS: '2000' }

/** Two servers and two workers on one PostgreSQL, killed at random while calls are made. */
class Fleet {
  readonly servers: TestServer[] = []
  readonly workers: TestWorker[] = []
  readonly #database: string
  kills = 0

  constructor(database: string) {
    this.#database = database
  }

  async start(): Promise<void> {
    for (let at = 0; at < 2; at++) {
      this.servers[at] = await this.#serve()
      this.workers[at] = await this.#work()
    }
  }

  #serve = () =>
    startServer({
      limitedBecause: 'crashes are the subject, with hundreds of calls',
      database: this.#database,
      env,
      words: ['--no-worker', '--log-level', 'ERROR'],
    })
  #work = () =>
    startWorker({
      limitedBecause: 'crashes are the subject, with hundreds of calls',
      database: this.#database,
      env,
      words: ['--log-level', 'ERROR'],
    })

  /** Kills one and starts another in its place; mostly a worker. */
  async kill(random: number): Promise<void> {
    const at = Math.floor(random * 100) % 2
    const one = random < 0.8 ? this.workers[at] : this.servers[at]
    one?.signal('SIGKILL')
    await one?.ended
    await one?.stop()
    this.kills++
    if (random < 0.8) this.workers[at] = await this.#work()
    else this.servers[at] = await this.#serve()
  }

  async stop(): Promise<void> {
    await Promise.all([...this.servers, ...this.workers].map((one) => one.stop()))
  }
}

/** Makes calls while processes are killed at random; then nothing may be broken of the promises. */
export async function randomKills(database: string, count: number, seed: number, leastKills: number): Promise<number> {
  const random = createRandom(seed)
  await keepHistory({ url: database })
  const tools = new TracedTools(tempFolder())
  const fleet = new Fleet(database)
  try {
    await fleet.start()
    await tools.register(fleet.servers[0] as TestServer, 'once', { seconds: 0.1 })
    await tools.register(fleet.servers[0] as TestServer, 'safe', { safe: true, seconds: 0.1 })
    const made: Made[] = []
    let making = true
    const killing = (async () => {
      while (making) {
        await new Promise((resolve) => setTimeout(resolve, 300 + random() * 700))
        if (making) await fleet.kill(random())
      }
    })()
    const callers = Array.from({ length: 8 }, async () => {
      // A machine that is quick still has to see some killed.
      while (made.length < count || fleet.kills < leastKills) {
        await new Promise((resolve) => setTimeout(resolve, 30))
        const call = { mark: `call-${made.length}`, tool: random() < 0.5 ? ('once' as const) : ('safe' as const) }
        const at = made.push({ ...call, told: undefined }) - 1
        const server = fleet.servers[Math.floor(random() * 2)] as TestServer
        const answer = await execute(
          server,
          call.tool,
          { mark: call.mark },
          { wait: random() < 0.3, traceId: call.mark },
        )
          .then(({ status, body }) => (status < 300 ? { id: body.id, status: body.status } : undefined))
          .catch(() => undefined)
        made[at] = { ...call, told: answer }
      }
    })
    await Promise.all(callers)
    making = false
    await killing
    await untilQuiet(fleet.servers[0] as TestServer)
    await check(database, tools, made)
    return fleet.kills
  } finally {
    await fleet.stop()
  }
}

interface Row {
  readonly id: string
  readonly mark: string
  readonly status: string
  readonly attempt: number
  readonly error_code: string | null
}

async function check(database: string, tools: TracedTools, made: readonly Made[]): Promise<void> {
  expect(await auditRuns({ url: database })).toEqual([])
  const rows = await queryRuns<Row>(
    { url: database },
    'select id, trace_id as mark, status, attempt, error_code from tool_executions',
  )
  const byMark = new Map(rows.map((row) => [row.mark, row]))
  expect(byMark.size).toBe(rows.length)
  for (const { mark, tool, told } of made) {
    const row = byMark.get(mark)
    const begun = tools.count(mark).begun
    const about = `${mark} of ${tool}: ${JSON.stringify({ row, begun, told })}`
    if (told !== undefined) expect(row?.id, about).toBe(told.id)
    if (told !== undefined && !['PENDING', 'RUNNING'].includes(told.status))
      expect(row?.status, about).toBe(told.status)
    // Not even accepted: the server was killed before the row was there.
    if (row === undefined) expect([begun, told], about).toEqual([0, undefined])
    else expect(begun, about).toBeLessThanOrEqual(row.attempt)
    if (tool === 'once') expect(begun, about).toBeLessThanOrEqual(1)
    if (row?.status === 'SUCCESS') expect(begun, about).toBeGreaterThanOrEqual(1)
    else if (row !== undefined) expect(['WORKER_LOST', 'CALLER_LOST'], about).toContain(row.error_code)
    if (row !== undefined && tool === 'safe' && row.status !== 'SUCCESS' && row.status !== 'CANCELLED')
      expect(row.attempt, about).toBe(3)
  }
}
