import { describe, expect, it } from 'vitest'
import { runSoak } from '../soak/run-soak.ts'

describe('96: everything at once', () => {
  it('96 (short form): half a minute of calls and random faults breaks no promise', async () => {
    const pace = { callers: 3, pauseMs: 150, faultEveryMs: 4000, sampleEveryMs: 5000 }
    const options = { ...pace, seconds: 25, seed: 96, minAcknowledged: 21 }
    const { problems, history, faults, states } = await runSoak(options)
    expect(problems, JSON.stringify(states)).toEqual([])
    expect(history.acknowledged.size).toBeGreaterThan(20)
    expect([...faults.values()].reduce((sum, times) => sum + times, 0)).toBeGreaterThan(0)
  }, 600_000)
})
