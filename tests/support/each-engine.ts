import { afterAll, beforeAll, describe } from 'vitest'
import { startPostgres, type TestPostgres } from './start-postgres.ts'
import { type ServerOptions, startServer, type TestServer } from './start-server.ts'

/** Runs the same tests against a server on the embedded database and one on a real PostgreSQL. */
export function onEachEngine(
  name: string,
  tests: (server: () => TestServer, database: () => string | undefined) => void,
  options: ServerOptions = {},
): void {
  for (const engine of ['embedded', 'PostgreSQL'] as const) {
    describe(`${name} (${engine})`, () => {
      let postgres: TestPostgres | undefined
      let server: TestServer | undefined
      let database: string | undefined
      beforeAll(async () => {
        if (engine === 'PostgreSQL') {
          postgres = await startPostgres()
          database = await postgres.createDatabase()
        }
        server = await startServer({ ...options, database })
      }, 120_000)
      afterAll(async () => {
        await server?.stop()
        await postgres?.stop()
      }, 60_000)
      tests(
        () => server as TestServer,
        () => database,
      )
    })
  }
}
