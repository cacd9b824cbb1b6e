import { afterAll, beforeAll, expect, it } from 'vitest'
import { crashLoop } from '../faults/crash-loop.ts'
import { startPostgres, type TestPostgres } from '../support/start-postgres.ts'

let postgres: TestPostgres
beforeAll(async () => {
  postgres = await startPostgres()
}, 120_000)
afterAll(() => postgres.stop())

it('66 (PostgreSQL, the best containment): killed at every point in turn, every call ends once and nothing is left', async () => {
  const killedAt = await crashLoop(await postgres.createDatabase(), [])
  for (const point of ['F1', 'F2', 'F3', 'F4', 'F5', 'F6', 'F7'])
    expect(killedAt.filter((at) => at.startsWith(point)).length, point).toBeGreaterThanOrEqual(2)
}, 400_000)
