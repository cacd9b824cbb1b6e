import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe } from 'vitest'
import { copyDatabaseTo } from './migrated-database.ts'
import { type SharedPostgres, sharedPostgres } from './start-postgres.ts'
import { type ServerOptions, startServer, type TestServer } from './start-server.ts'

/** A server's options, and what is done to its database before it starts. */
interface EngineOptions extends ServerOptions {
  readonly prepare?: (where: { url?: string | undefined; home: string }) => Promise<void>
}

type Tests = (server: () => TestServer, database: () => string | undefined) => void

/** Runs tests against one server, for behavior that does not depend on the engine. */
export const onServer = (name: string, tests: Tests, options: EngineOptions = {}): void =>
  describeServer('PostgreSQL', name, { tests, options })

/** Runs the same tests against a server on the embedded database and one on a real PostgreSQL. */
export function onEachEngine(name: string, tests: Tests, options: EngineOptions = {}): void {
  for (const engine of ['embedded', 'PostgreSQL'] as const)
    describeServer(engine, `${name} (${engine})`, { tests, options })
}

function describeServer(
  engine: 'embedded' | 'PostgreSQL',
  name: string,
  { tests, options: { prepare, ...options } }: { readonly tests: Tests; readonly options: EngineOptions },
): void {
  describe(name, () => {
    let postgres: SharedPostgres | undefined
    let server: TestServer | undefined
    let database: string | undefined
    let home: string
    beforeAll(async () => {
      home = mkdtempSync(join(tmpdir(), 'tooldex-engine-'))
      if (engine === 'PostgreSQL') {
        postgres = await sharedPostgres()
        database = await postgres.createDatabase()
      } else copyDatabaseTo(home)
      await prepare?.({ url: database, home })
      server = await startServer({ ...options, database, home })
    })
    afterAll(async () => {
      await server?.stop()
      await postgres?.stop()
      rmSync(home, { recursive: true, force: true })
    })
    tests(
      () => server as TestServer,
      () => database,
    )
  })
}
