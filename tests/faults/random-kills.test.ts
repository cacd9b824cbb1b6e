import { afterAll, beforeAll, expect, it } from 'vitest'
import { type SharedPostgres, sharedPostgres } from '../support/start-postgres.ts'
import { randomKills } from './random-kills.ts'

let postgres: SharedPostgres
beforeAll(async () => {
  postgres = await sharedPostgres()
})
afterAll(() => postgres.stop())

it('66, 70, 96: 200 calls while workers and servers are killed at random keep every promise', async () => {
  expect(await randomKills(await postgres.createDatabase(), 200, 20_261_115, 3)).toBeGreaterThanOrEqual(3)
}, 600_000)
