import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { askOften, type Pressed, startFloor } from '../soak/ask-often.ts'
import { middle } from '../soak/flatness.ts'
import { holdings } from '../soak/site.ts'
import { register } from '../support/rest.ts'
import { projectRoot } from '../support/run-cli.ts'
import { startPostgres } from '../support/start-postgres.ts'
import { startServer } from '../support/start-server.ts'

const minutes = Number(process.env.TOOLDEX_SOAK_MINUTES ?? 10)
// The floor is asked in between, so that both meet the same moods of the machine.
const [oursSeconds, floorSeconds] = [15, 5]
const rounds = Math.max(4, Math.round((minutes * 60) / (oursSeconds + floorSeconds)))

interface Round {
  readonly ours: Pressed
  readonly floor: Pressed
  readonly rss: number
  readonly files: number
}

const of = (rounds: readonly Round[], read: (round: Round) => number): number => middle(rounds.map(read))

describe('91: reading under load', () => {
  it(
    `91: ${minutes} minutes: p99 at most 3 times the floor, a third of its requests, and nothing grows`,
    async () => {
      const postgres = await startPostgres()
      const database = await postgres.createDatabase()
      const server = await startServer({ limitedBecause: 'load is the subject', database })
      const floor = await startFloor(database)
      try {
        await register(server, 'read_often')
        const read = `${server.url}/api/v1/tools/read_often`
        await askOften(read, server.key, 5)
        const seen: Round[] = []
        for (let round = 0; round < rounds; round++) {
          const ours = await askOften(read, server.key, oursSeconds)
          seen.push({ ours, floor: await askOften(floor.url, server.key, floorSeconds), ...holdings(server.pid) })
        }
        const quarter = Math.floor(rounds / 4)
        const [early, late] = [seen.slice(quarter, 2 * quarter), seen.slice(-quarter)]
        const told = {
          minutes,
          p99: [of(seen, ({ ours }) => ours.p99), of(seen, ({ floor }) => floor.p99)],
          perSecond: [of(seen, ({ ours }) => ours.perSecond), of(seen, ({ floor }) => floor.perSecond)],
          rss: [of(early, ({ rss }) => rss), of(late, ({ rss }) => rss)],
          files: [of(early, ({ files }) => files), of(late, ({ files }) => files)],
        }
        console.log(JSON.stringify(told))
        const file = process.env.TOOLDEX_SOAK_RESULT
        if (file !== undefined) writeFileSync(resolve(projectRoot, file), `${JSON.stringify(told)}\n`)
        expect(told.p99[0]).toBeLessThanOrEqual(3 * (told.p99[1] ?? 0))
        expect(told.perSecond[0]).toBeGreaterThanOrEqual((told.perSecond[1] ?? Number.NaN) / 3)
        expect(told.rss[1]).toBeLessThan((told.rss[0] ?? 0) * 1.1)
        expect(told.files[1]).toBeLessThanOrEqual((told.files[0] ?? 0) + 2)
      } finally {
        floor.child.kill('SIGKILL')
        await server.stop()
        await postgres.stop()
      }
    },
    (minutes + 5) * 60_000,
  )
})
