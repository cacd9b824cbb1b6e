import { describe, expect, it } from 'vitest'
import { runFuzz } from '../fuzz/run-fuzz.ts'
import { startPostgres } from '../support/start-postgres.ts'

const requests = Number(process.env.TOOLDEX_FUZZ_REQUESTS ?? 20_000)
const seed = Number(process.env.TOOLDEX_FUZZ_SEED ?? 1)

describe('random requests over all routes, scopes and two workspaces', () => {
  it.each(['pglite', 'postgres'] as const)(
    `%s: ${requests} requests: no 5xx, no data of another workspace, no turn of the event loop over 50 ms`,
    async (engine) => {
      const cluster = engine === 'postgres' ? await startPostgres() : undefined
      try {
        const result = await runFuzz({ requests, seed, database: await cluster?.createDatabase() })
        console.log(JSON.stringify({ engine, seed, ...result }, null, 1))
        expect(result.serverErrors).toEqual([])
        expect(result.leaks).toEqual([])
        expect(result.blocked).toEqual([])
      } finally {
        await cluster?.stop()
      }
    },
    3_600_000,
  )
})
