import { type FuzzRequest, makeRequest } from './make-request.ts'
import { openSite, type Site, type Workspace } from './open-site.ts'
import { createRandom, type Random } from './random.ts'
import { longestTurnMs } from './watch-turns.ts'

/** How much to ask, and from where to start. */
export interface FuzzOptions {
  readonly requests: number
  readonly seed: number
  readonly database?: string | undefined
}

/** What a run found; all three lists must be empty. */
export interface FuzzResult {
  readonly requests: number
  readonly routes: number
  readonly statuses: Readonly<Record<string, number>>
  readonly serverErrors: readonly string[]
  readonly leaks: readonly string[]
  /** Turns of the event loop beyond the bound, with the requests that were in flight. */
  readonly blocked: readonly string[]
  readonly longestTurnMs: number
}

const atOnce = 4
const between = 500

/** A request, and who asks it: with a key, or with a session of a browser that was started with it. */
interface Question {
  readonly workspace: Workspace
  readonly key: string | undefined
  readonly viaSession: boolean
  readonly request: FuzzRequest
}

interface Asked {
  readonly text: string
  readonly from: number
  to: number
}

/** Asks a server at random, with keys of all scopes of two workspaces, and watches what must never happen. */
export async function runFuzz({ requests, seed, database }: FuzzOptions): Promise<FuzzResult> {
  const site = await openSite(database)
  try {
    const run = new Run(site, createRandom(seed))
    for (let done = 0; done < requests; done += between) await run.round(Math.min(between, requests - done))
    return run.result()
  } catch (error) {
    if (site.server.alive()) throw error
    throw new Error(`The server ended: ${site.server.stderr().slice(-3000)}`, { cause: error })
  } finally {
    await site.close()
  }
}

class Run {
  readonly #site: Site
  readonly #random: Random
  readonly #statuses: Record<string, number> = {}
  readonly #routes = new Set<string>()
  readonly #asked: Asked[] = []
  readonly #serverErrors: string[] = []
  readonly #leaks: string[] = []
  readonly #since = Date.now()

  constructor(site: Site, random: Random) {
    this.#site = site
    this.#random = random
  }

  async round(count: number): Promise<void> {
    await this.#site.refill()
    const known = await this.#site.collect()
    // Made in one order whatever the order of the answers, so that a seed always means the same requests.
    const queue = Array.from({ length: count }, () => {
      const workspace = this.#random.pick(this.#site.workspaces)
      const key = this.#random.chance(0.02)
        ? undefined
        : this.#random.pick([...workspace.keys, workspace.admin, workspace.admin])
      const viaSession = this.#random.chance(0.1)
      return { workspace, key, viaSession, request: makeRequest(this.#random, known) }
    }).reverse()
    const worker = async () => {
      for (let next = queue.pop(); next !== undefined; next = queue.pop()) await this.#ask(next)
    }
    await Promise.all(Array.from({ length: atOnce }, worker))
  }

  async #ask({ workspace, key, viaSession, request }: Question) {
    const text = `${request.route} ${request.path.slice(0, 200)} ${request.body?.slice(0, 300) ?? ''} [${key?.slice(0, 20)}]`
    const asked = { text, from: Date.now(), to: Number.POSITIVE_INFINITY }
    this.#asked.push(asked)
    this.#routes.add(request.route.replace(/[0-9a-f-]{36}/, '{id}'))
    const credentials = viaSession
      ? this.#site.sessionOf(key)
      : key === undefined
        ? {}
        : { authorization: `Bearer ${key}` }
    const { status, body } = await send(this.#site.server.url, request, credentials)
    asked.to = Date.now()
    this.#statuses[status] = (this.#statuses[status] ?? 0) + 1
    if (status >= 500 || isInternalError(request, body))
      this.#serverErrors.push(`${status} ${text}: ${body.slice(0, 300)}`)
    for (const other of this.#site.workspaces)
      if (other !== workspace && body.includes(other.mark) && !isOperator(workspace, request))
        this.#leaks.push(`${text}: ${around(body, other.mark)}`)
  }

  result(): FuzzResult {
    const turns = this.#site.longTurns().filter(({ at }) => at > this.#since)
    const long = turns.filter(({ cpuMs }) => cpuMs > longestTurnMs)
    return {
      requests: this.#asked.length,
      routes: this.#routes.size,
      statuses: this.#statuses,
      serverErrors: this.#serverErrors,
      leaks: this.#leaks,
      blocked: long.map(({ at, cpuMs, wallMs, stack }) => {
        const during = this.#asked.filter(({ from, to }) => from <= at && to >= at - wallMs).map(({ text }) => text)
        return `${Math.round(cpuMs)} ms${stack ? ` (${stack})` : ''}: ${during.join(' | ')}`
      }),
      longestTurnMs: Math.round(Math.max(0, ...turns.map(({ cpuMs }) => cpuMs))),
    }
  }
}

/** A backup is of the whole database, for the operator of the host, who is the admin of the first workspace. */
const isOperator = ({ name }: Workspace, { route }: FuzzRequest): boolean =>
  name === 'default' && route === 'GET /database/backup'

/** An internal error of the MCP endpoint is part of a response with another status. */
const isInternalError = ({ path }: FuzzRequest, body: string): boolean =>
  path.startsWith('/mcp') && /"code":\s*-32603/.test(body)

const around = (text: string, part: string): string =>
  text.slice(Math.max(0, text.indexOf(part) - 100), text.indexOf(part) + 60)

/** Statuses below zero: the connection ended without an answer. */
async function send(url: string, { method, path, body, headers }: FuzzRequest, credentials: object) {
  const given = { ...credentials, ...headers }
  try {
    const response = await fetch(url + path, {
      method,
      headers: given,
      ...(body === undefined ? {} : { body }),
      redirect: 'manual',
      signal: AbortSignal.timeout(30_000),
    })
    return { status: response.status, body: await response.text() }
  } catch (error) {
    return { status: 599, body: String((error as Error).cause ?? error) }
  }
}
