import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { growth } from '../soak/flatness.ts'
import { runSoak, type Sample, type SoakResult } from '../soak/run-soak.ts'
import { projectRoot } from '../support/run-cli.ts'

const minutes = Number(process.env.TOOLDEX_SOAK_MINUTES ?? 20)
const seed = Number(process.env.TOOLDEX_SOAK_SEED ?? 20261115)

/** What was seen, for the page about it; written only where it is asked for. */
function keep({ samples, history, faults, states, problems }: SoakResult): void {
  const { calls, changes, acknowledged, refusals } = history
  const counts = { calls, changes, acknowledged: acknowledged.size, refusals: Object.fromEntries(refusals) }
  const told = { minutes, seed, ...counts, faults: Object.fromEntries(faults), states, problems, samples }
  const file = process.env.TOOLDEX_SOAK_RESULT
  if (file !== undefined) writeFileSync(resolve(projectRoot, file), `${JSON.stringify(told)}\n`)
}

describe('96: a long soak with random faults', () => {
  it(
    `96: ${minutes} minutes of calls, kills, pauses, cuts and restarts break no promise, and nothing grows`,
    async () => {
      const options = { seconds: minutes * 60, seed, callers: 4, pauseMs: 300, faultEveryMs: 10_000 }
      const result = await runSoak({ ...options, sampleEveryMs: 5000 })
      keep(result)
      expect(result.problems).toEqual([])
      expect(result.history.acknowledged.size).toBeGreaterThan(minutes * 60)
      expect([...result.faults.values()].reduce((sum, count) => sum + count, 0)).toBeGreaterThan(minutes * 2)
      for (const who of ['server', 'worker'] as const) {
        const rss = growth(result.samples, (sample: Sample) => sample[who].rss)
        const files = growth(result.samples, (sample: Sample) => sample[who].files)
        expect(rss.share, `memory of the ${who}`).toBeLessThan(1.15)
        expect(files.late - files.early, `files of the ${who}`).toBeLessThanOrEqual(8)
      }
    },
    (minutes + 5) * 60_000,
  )
})
