import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { copyDatabaseTo } from './migrated-database.ts'
import { mainFile } from './run-cli.ts'
import { sandboxVariables } from './test-sandbox.ts'

/** A `tooldex serve` of a test's own. */
export interface TestServer {
  readonly url: string
  readonly key: string
  readonly home: string
  /** A folder that tools may read and write, for the scripts of a test; they may not read the home of the server. */
  readonly scripts: string
  readonly pid: number
  /** What it wrote to stderr so far. */
  stderr(): string
  /** Asks below /api/v1 with the admin key, unless told otherwise. */
  request(method: string, path: string, options?: RequestOptions): Promise<TestAnswer>
  signal(name: NodeJS.Signals): void
  alive(): boolean
  /** Resolves with the exit code once the process is gone. */
  readonly ended: Promise<number | null>
  stop(): Promise<void>
}

export interface RequestOptions {
  readonly body?: unknown
  /** A body that is sent as it is. */
  readonly raw?: string | Uint8Array
  readonly key?: string | undefined
  readonly headers?: Readonly<Record<string, string>>
}

export interface TestAnswer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: answers are read field by field in tests
  readonly body: any
}

export interface ServerOptions {
  /** Commands run with limits only, for this reason; without one, the server runs as shipped. */
  readonly limitedBecause?: string | undefined
  /** A PostgreSQL database; without one the embedded one is used. */
  readonly database?: string | undefined
  readonly home?: string
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly words?: readonly string[]
  /** What is started instead of the program itself. */
  readonly entry?: string | undefined
  /** Words of a program that starts the server in its own place. */
  readonly before?: readonly string[] | undefined
}

const startMs = 170_000
export const testKey = 'test-key-0123456789abcdef'

/** Starts a server on a free port and waits until it answers; a home without a database gets a migrated one. */
export async function startServer(options: ServerOptions = {}): Promise<TestServer> {
  const home = options.home ?? mkdtempSync(join(tmpdir(), 'tooldex-server-'))
  if (options.database === undefined) copyDatabaseTo(home)
  const scripts = realpathSync(mkdtempSync(join(tmpdir(), 'tooldex-scripts-')))
  // A server that is root may run a tool as another user.
  chmodSync(scripts, 0o777)
  const child = launch(home, scripts, options)
  let stderr = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  const stop = async () => {
    await stopProcess(child, ended)
    rmSync(scripts, { recursive: true, force: true })
    if (options.home === undefined) rmSync(home, { recursive: true, force: true })
  }
  try {
    const url = await waitForUrl(child, () => stderr)
    const key = options.env?.TOOLDEX_API_KEY ?? testKey
    return {
      url,
      key,
      home,
      scripts,
      pid: child.pid as number,
      ended,
      stop,
      stderr: () => stderr,
      signal: (name) => void child.kill(name),
      alive: () => child.exitCode === null && child.signalCode === null,
      request: (method, path, more = {}) => ask(`${url}/api/v1${path}`, method, { key, ...more }),
    }
  } catch (error) {
    await stop()
    throw error
  }
}

function launch(home: string, scripts: string, options: ServerOptions): ChildProcess {
  const { database, env, words = [], entry = mainFile, before = [], limitedBecause } = options
  const { DATABASE_URL: _url, TOOLDEX_URL: _server, ...inherited } = process.env
  const [program = '', ...args] = [...before, process.execPath, entry, 'serve', '--port', '0', ...words]
  return spawn(program, args, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: {
      ...inherited,
      TOOLDEX_HOME: home,
      TOOLDEX_API_KEY: testKey,
      ...sandboxVariables(limitedBecause),
      ...(words.includes('--allow-folder') ? {} : { TOOLDEX_ALLOW_FOLDERS: `${scripts}:rw` }),
      ...(database === undefined ? {} : { DATABASE_URL: database }),
      ...env,
    },
  })
}

async function waitForUrl(child: ChildProcess, stderr: () => string): Promise<string> {
  for (const until = Date.now() + startMs; Date.now() < until; await sleep(50)) {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error(`the server ended: ${stderr()}`)
    const [, url] = /serves .* at (http:\S+)/.exec(stderr()) ?? []
    if (url === undefined) continue
    const ready = await fetch(`${url}/readyz`).catch(() => undefined)
    if (ready?.ok) return url
  }
  throw new Error(`the server did not start: ${stderr()}`)
}

async function stopProcess(child: ChildProcess, ended: Promise<unknown>): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGTERM')
  const late = setTimeout(() => child.kill('SIGKILL'), 60_000)
  await ended
  clearTimeout(late)
}

/** One request, its answer read to the end. */
export async function ask(address: string, method: string, options: RequestOptions = {}): Promise<TestAnswer> {
  const { body, raw, key, headers } = options
  const sent = raw ?? (body === undefined ? undefined : JSON.stringify(body))
  const response = await fetch(address, {
    method,
    headers: {
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...(sent === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(sent === undefined ? {} : { body: sent as string }),
    redirect: 'manual',
  })
  return readAnswer(response)
}

/** Reads a response to the end. */
export async function readAnswer(answered: Response | Promise<Response>): Promise<TestAnswer> {
  const response = await answered
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, body: parse(text) }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
