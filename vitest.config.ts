import { defineConfig } from 'vitest/config'

const long = process.env.TOOLDEX_LONG === '1'
// What they test is when things happen: in pairs, when all others are done.
const timed = ['tests/faults/run-races.test.ts', 'tests/faults/leases.test.ts']
// They measure, and need the machine to themselves.
const alone = ['tests/faults/load.test.ts', 'tests/faults/everything-at-once.test.ts', 'tests/long/load.test.ts']
const left = [...(long ? [] : ['tests/long/**']), 'node_modules/**']

const group = (order: number, name: string, include: readonly string[], maxWorkers: number, exclude = left) => ({
  extends: true as const,
  test: { name, include: [...include], exclude, maxWorkers, sequence: { groupOrder: order } },
})

export default defineConfig({
  test: {
    globalSetup: ['tests/support/build-once.ts'],
    // What one test searched and called must not change what another finds; CI alone would switch colours on.
    env: { TOOLDEX_LEARNING: 'off', NO_COLOR: '1' },
    pool: 'forks',
    // A hang fails a test, a slow machine does not.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000, interval: 20 } },
    projects: [
      group(0, 'all', ['src/**/*.test.ts', 'tests/**/*.test.ts'], 2, [...left, ...timed, ...alone]),
      group(1, 'timed', timed, 2),
      group(2, 'alone', alone, 1),
    ],
  },
})
