import { afterAll, beforeAll, expect, it } from 'vitest'
import { randomKills } from '../faults/random-kills.ts'
import { startPostgres, type TestPostgres } from '../support/start-postgres.ts'

let postgres: TestPostgres
beforeAll(async () => {
  postgres = await startPostgres()
}, 120_000)
afterAll(() => postgres.stop())

it('66, 70, 96: 1000 calls while workers and servers are killed at random: the audit finds nothing', async () => {
  expect(await randomKills(await postgres.createDatabase(), 1000, 66, 25)).toBeGreaterThanOrEqual(25)
}, 1_200_000)
