import { afterAll, beforeAll, describe, expect } from 'vitest'
import { auditRuns, keepHistory, type Recorded } from './audit-runs.ts'
import { type SharedPostgres, sharedPostgres } from './start-postgres.ts'
import { type ServerOptions, startServer, type TestServer } from './start-server.ts'
import { tempHome } from './temp-folder.ts'
import { untilQuiet } from './traced-tools.ts'

/** A server whose runs are audited when all tests are over. */
export interface World {
  server(): TestServer
  where(): Recorded
}

/** Runs the same tests against a server on each engine; when they are over, nothing may be broken of the promises. */
export function onEachWorld(name: string, options: ServerOptions, tests: (world: World) => void): void {
  for (const engine of ['embedded', 'PostgreSQL'] as const) {
    describe(`${name} (${engine})`, () => {
      const home = tempHome()
      let postgres: SharedPostgres | undefined
      let server: TestServer | undefined
      let where: Recorded = { home: home.path }
      beforeAll(async () => {
        if (engine === 'PostgreSQL') {
          postgres = await sharedPostgres()
          where = { url: await postgres.createDatabase() }
        }
        await keepHistory(where)
        server = await startServer({
          limitedBecause: 'its tools write to files of the test',
          ...options,
          home: home.path,
          database: where.url,
        })
      })
      afterAll(async () => {
        try {
          if (server === undefined) return
          await untilQuiet(server)
          await server.stop()
          expect(await auditRuns(where)).toEqual([])
        } finally {
          await server?.stop()
          await postgres?.stop()
          home.remove()
        }
      })
      tests({ server: () => server as TestServer, where: () => where })
    })
  }
}
