import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { mainFile } from '../support/run-cli.ts'
import { startPostgres, type TestPostgres } from '../support/start-postgres.ts'
import { startServer, type TestServer } from '../support/start-server.ts'

/** Two servers and two workers on one PostgreSQL; of each kind one is there to be killed and comes back. */
export interface Site {
  readonly postgres: TestPostgres
  readonly database: string
  /** What tools wrote down, one word a line. */
  notes(): readonly string[]
  /** The server that is never killed, and the one that is. */
  servers(): readonly [TestServer, TestServer]
  workers(): readonly [ChildProcess, ChildProcess]
  restartServer(): Promise<void>
  restartWorker(): void
  close(): Promise<void>
}

const script = (notes: string) => `#!/bin/sh
case "$1" in
  note) echo "$2" >> ${notes}; echo "$2" ;;
  slow) sleep 0.3; echo "$2" >> ${notes}; echo "$2" ;;
  fail) echo "$2"; exit 3 ;;
  late) sleep 30 ;;
  big) yes "$2" | head -c 200000 ;;
esac
`

const config = (program: string) => `name: soak
command: ${program}
tools:
${['note', 'slow', 'fail', 'late', 'big']
  .map(
    (name) => `  - name: soak_${name}
    description: Does ${name}
    command: ${name}
    ${name === 'late' ? 'timeout: 1' : ''}
    args: [{name: word, positional: true, required: true}]`,
  )
  .join('\n')}
`

const env = { TOOLDEX_LEASE_MS: '3000', TOOLDEX_QUEUE_MS: '60000', TOOLDEX_LEARNING: 'off' }

export async function openSite(): Promise<Site> {
  const folder = mkdtempSync(join(tmpdir(), 'tooldex-soak-'))
  const [notes, program, tools] = ['notes.txt', 'tool.sh', 'tools.yaml'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  writeFileSync(program, script(notes))
  chmodSync(program, 0o755)
  writeFileSync(tools, config(program))
  const postgres = await startPostgres()
  const database = await postgres.createDatabase()
  const startOne = (name: string) =>
    // Its tools write to files that the test reads.
    startServer({
      database,
      home: join(folder, name),
      env,
      limitedBecause: 'load is the subject',
      words: ['--concurrency', '8', tools],
    })
  const startWorker = (name: string) =>
    spawn(process.execPath, [mainFile, 'worker', '--concurrency', '4'], {
      stdio: 'ignore',
      env: { ...process.env, ...env, DATABASE_URL: database, TOOLDEX_HOME: join(folder, name) },
    })
  const servers: [TestServer, TestServer] = [await startOne('steady'), await startOne('mortal')]
  const workers: [ChildProcess, ChildProcess] = [startWorker('worker-1'), startWorker('worker-2')]
  return {
    postgres,
    database,
    notes: () => (existsSync(notes) ? readFileSync(notes, 'utf8').split('\n').filter(Boolean) : []),
    servers: () => servers,
    workers: () => workers,
    async restartServer() {
      servers[1] = await startOne('mortal')
    },
    restartWorker() {
      workers[1] = startWorker('worker-2')
    },
    async close() {
      for (const worker of workers) worker.kill('SIGKILL')
      await Promise.all(servers.map((server) => server.stop()))
      await postgres.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** How much a process holds: resident bytes and open files. */
export function holdings(pid: number): { readonly rss: number; readonly files: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return {
    rss: Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) * 1024,
    files: readdirSync(`/proc/${pid}/fd`).length,
  }
}
