// Runs all tests and ends with one line that counts them. With --long the slow ones too.
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, realpathSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { freemem, tmpdir } from 'node:os'
import { join } from 'node:path'

// Sandboxes and pages are tested for real; where these may not be installed those tests are skipped, and say so.
if (process.platform === 'linux' && process.geteuid() === 0) {
  for (const [program, name] of Object.entries({ bwrap: 'bubblewrap', chromium: 'chromium' })) {
    if (spawnSync(program, ['--version']).error === undefined) continue
    spawnSync('apt-get', ['install', '--yes', '--no-install-recommends', name], { stdio: 'ignore' })
  }
}

const folder = mkdtempSync(join(roomyMemory() ?? realpathSync(tmpdir()), 'tooldex-results-'))
// Some programs are run as somebody else.
chmodSync(folder, 0o755)
const output = join(folder, 'results.json')
const args = process.argv.slice(2).filter((word) => word !== '--long')
const env = { ...process.env, TMPDIR: folder, ...(process.argv.includes('--long') ? { TOOLDEX_LONG: '1' } : {}) }
const { status } = spawnSync(
  process.execPath,
  [
    join('node_modules', 'vitest', 'vitest.mjs'),
    'run',
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${output}`,
    ...args,
  ],
  { stdio: 'inherit', env },
)

/** Hundreds of databases are made and thrown away: in memory that takes half the time. */
function roomyMemory() {
  try {
    const { bavail, bsize } = statfsSync('/dev/shm')
    const program = mkdtempSync('/dev/shm/tooldex-try-')
    writeFileSync(join(program, 'run'), '#!/bin/sh\n', { mode: 0o755 })
    const runs = spawnSync(join(program, 'run')).status === 0
    rmSync(program, { recursive: true })
    return runs && bavail * bsize > 6 * 2 ** 30 && freemem() > 8 * 2 ** 30 ? '/dev/shm' : undefined
  } catch {
    return undefined
  }
}

let counted = false
try {
  const { testResults, numPassedTests, numFailedTests } = JSON.parse(readFileSync(output, 'utf8'))
  const skipped = testResults.flatMap((file) =>
    file.assertionResults.filter((test) => test.status !== 'passed' && test.status !== 'failed'),
  )
  const unexplained = skipped.filter((test) => !test.fullName.includes('[skipped: '))
  for (const test of skipped) console.log(`skipped: ${test.fullName}`)
  for (const test of unexplained) console.log(`skipped without a reason: ${test.fullName}`)
  console.log(`${numPassedTests} passed, ${numFailedTests + unexplained.length} failed, ${skipped.length} skipped`)
  counted = unexplained.length === 0
} finally {
  rmSync(folder, { recursive: true, force: true })
}
process.exitCode = status === 0 && counted ? 0 : 1
