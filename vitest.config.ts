import { defineConfig } from 'vitest/config'

const long = process.env.TOOLDEX_LONG === '1'
// They measure, or need the machine to themselves for a while: one after the other, when all others are done.
const alone = [
  'tests/faults/load.test.ts',
  'tests/faults/group-h.test.ts',
  'tests/faults/run-races.test.ts',
  'tests/faults/leases.test.ts',
]
const left = [...(long ? [] : ['tests/long/**']), 'node_modules/**']

export default defineConfig({
  test: {
    globalSetup: ['tests/support/build-once.ts'],
    // What one test searched and called must not change what another finds; CI alone would switch colours on.
    env: { TOOLDEX_LEARNING: 'off', NO_COLOR: '1' },
    pool: 'forks',
    testTimeout: 30_000,
    hookTimeout: 60_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'all',
          include: ['src/**/*.test.ts', 'tests/**/*.test.ts'],
          exclude: [...left, ...alone],
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: { name: 'alone', include: alone, exclude: left, maxWorkers: 1, sequence: { groupOrder: 1 } },
      },
    ],
  },
})
