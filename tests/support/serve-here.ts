import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runWorker } from '../../src/app/run-worker.ts'
import { serve } from '../../src/app/serve.ts'
import { copyDatabaseTo } from './migrated-database.ts'
import { ask, type RequestOptions, type TestAnswer, testKey } from './start-server.ts'
import { sandboxVariables } from './test-sandbox.ts'

/** A server in the very process of a test, for what can only be seen from inside. */
export interface ServerHere {
  readonly url: string
  request(method: string, path: string, options?: RequestOptions): Promise<TestAnswer>
  stop(): Promise<void>
}

interface HereOptions {
  /** A config of tools that it offers. */
  readonly config: string
  readonly database?: string | undefined
  /** Whether it runs queued calls itself. */
  readonly worker?: boolean
}

const common = { labels: [], host: '127.0.0.1', port: 0, drainMs: 25_000 } as const

/** Starts a server here; the environment of the process is set for it. */
export async function serveHere({ config, database, worker = true }: HereOptions): Promise<ServerHere> {
  const home = mkdtempSync(join(tmpdir(), 'tooldex-here-'))
  if (database === undefined) copyDatabaseTo(home)
  const file = join(home, 'tools.yaml')
  writeFileSync(file, config)
  // Its tools wait for files of the test.
  Object.assign(process.env, sandboxVariables('none'), { TOOLDEX_HOME: home, TOOLDEX_API_KEY: testKey })
  if (database !== undefined) process.env.DATABASE_URL = database
  const stopping = new AbortController()
  const options = { ...common, examples: false, worker, configs: [file] }
  const { said, ended } = await started(/ at (http:\S+)/, (print) => serve({ ...options, print }, stopping.signal))
  return {
    url: said,
    request: (method, path, more = {}) => ask(`${said}${path}`, method, { key: testKey, ...more }),
    async stop() {
      stopping.abort()
      await ended
      rmSync(home, { recursive: true, force: true })
    },
  }
}

/** Starts a worker here on the same database; gives where it is watched. */
export async function workHere(): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const stopping = new AbortController()
  const { said, ended } = await started(/metrics at (http:\S+)\/metrics/, (print) =>
    runWorker({ ...common, print }, stopping.signal),
  )
  const stop = async () => {
    stopping.abort()
    await ended
  }
  return { url: said, stop }
}

async function started(shows: RegExp, run: (print: (line: string) => void) => Promise<void>) {
  let ended: Promise<void> = Promise.resolve()
  const said = await new Promise<string>((resolve, reject) => {
    ended = run((line) => {
      const [, found] = shows.exec(line) ?? []
      if (found !== undefined) resolve(found.replace(/ .*/, ''))
    })
    ended.catch(reject)
  })
  return { said, ended }
}
