import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'tests/**/*.test.ts'],
    exclude: [...(process.env.TOOLDEX_LONG === '1' ? [] : ['tests/long/**']), 'node_modules/**'],
    globalSetup: ['tests/support/build-once.ts'],
    // What one test searched and called must not change what another finds; CI alone would switch colours on.
    env: { TOOLDEX_LEARNING: 'off', NO_COLOR: '1' },
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
})
