import { mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

// The home of the user may have a database and a running server, which programs of tests would find.
const home = mkdtempSync(join(tmpdir(), 'tooldex-home-'))
process.once('exit', () => rmSync(home, { recursive: true, force: true }))
const long = process.env.TOOLDEX_LONG === '1'
// Units, and registries in the process of the test: no server, no browser, no PostgreSQL. `npm run test:quick` runs these.
export const quick = [
  'src/**/*.test.ts',
  'web/src/**/*.test.ts',
  'tests/bundled-search.test.ts',
  'tests/client.test.ts',
  'tests/every-problem.test.ts',
  'tests/first-hour.test.ts',
  'tests/keep-alive.test.ts',
  'tests/library-registry.test.ts',
  'tests/lint.test.ts',
  'tests/live-catalog.test.ts',
  'tests/openapi-examples.test.ts',
  'tests/openapi-import.test.ts',
  'tests/parity-registry.test.ts',
  'tests/output-threads.test.ts',
  'tests/registry-regressions.test.ts',
  'tests/same-schema.test.ts',
  'tests/search-verdict.test.ts',
  'tests/scenarios/climax-loader.test.ts',
  'tests/scenarios/discovery-contracts.test.ts',
  'tests/sources.test.ts',
  'tests/stored-rows.test.ts',
  'tests/tool-files.test.ts',
  'tests/validate.test.ts',
  'tests/write-warnings.test.ts',
]
// What they test is when things happen: together, when all others are done.
const timed = ['tests/faults/run-races.test.ts', 'tests/faults/leases.test.ts', 'tests/faults/lost-database.test.ts']
// They measure, and need the machine to themselves.
const alone = ['tests/faults/load.test.ts', 'tests/faults/everything-at-once.test.ts', 'tests/long/load.test.ts']
const left = [...(long ? [] : ['tests/long/**']), 'node_modules/**']
const cores = availableParallelism()
const [build, postgres] = ['tests/support/build-once.ts', 'tests/support/start-postgres-once.ts']

interface Group {
  readonly include: readonly string[]
  readonly exclude?: readonly string[]
  readonly maxWorkers: number
  readonly globalSetup?: string[]
  readonly isolate?: boolean
}

const group = (order: number, name: string, { include, exclude = left, ...options }: Group) => ({
  extends: true as const,
  test: {
    name,
    include: [...include],
    exclude: [...exclude],
    globalSetup: [build, postgres],
    sequence: { groupOrder: order },
    ...options,
  },
})

export default defineConfig({
  test: {
    // What one test searched and called must not change what another finds; CI alone would switch colours on.
    env: { TOOLDEX_HOME: home, TOOLDEX_LEARNING: 'off', NO_COLOR: '1' },
    pool: 'forks',
    setupFiles: ['tests/support/fixed-seed.ts'],
    // A hang fails a test, a slow machine does not.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000, interval: 20 } },
    projects: [
      // One process loads the modules for many files.
      group(0, 'quick', { include: quick, maxWorkers: cores, globalSetup: [build], isolate: false }),
      // They wait for processes half of the time.
      group(1, 'processes', {
        include: ['tests/**/*.test.ts'],
        exclude: [...left, ...quick, ...timed, ...alone],
        maxWorkers: Math.ceil(1.5 * cores),
      }),
      group(2, 'timed', { include: timed, maxWorkers: 3 }),
      group(3, 'alone', { include: alone, maxWorkers: 1 }),
    ],
  },
})
