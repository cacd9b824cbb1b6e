// Runs all tests and ends with one line that counts them. With --long the slow ones too.
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statfsSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { freemem, tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'

// Sandboxes and pages are tested for real; where these cannot be installed, those tests are skipped with a reason.
if (process.platform === 'linux' && process.geteuid() === 0) {
  for (const [program, name] of Object.entries({ bwrap: 'bubblewrap', chromium: 'chromium' })) {
    if (spawnSync(program, ['--version']).error === undefined) continue
    spawnSync('apt-get', ['install', '--yes', '--no-install-recommends', name], { stdio: 'ignore' })
  }
}

const folder = mkdtempSync(join(roomyMemory() ?? realpathSync(tmpdir()), 'tooldex-results-'))
// Some tests run programs as another user.
chmodSync(folder, 0o755)
const checkout = realpathSync(process.cwd())
const output = join(folder, 'results.json')
const args = process.argv.slice(2).filter((word) => word !== '--long')
const env = { ...process.env, TMPDIR: folder, ...(process.argv.includes('--long') ? { TOOLDEX_LONG: '1' } : {}) }
const place = isOpenToOthers(checkout) ? checkout : copyTo(join(folder, 'checkout'))
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
  { stdio: 'inherit', env, cwd: place },
)

/** Whether other users can reach the folder: PostgreSQL refuses to run as root, and some tests run as another user. */
function isOpenToOthers(path) {
  if (process.geteuid?.() !== 0) return true
  const isOpen = (statSync(path).mode & 0o001) !== 0
  return isOpen && (dirname(path) === path || isOpenToOthers(dirname(path)))
}

/** Copies the checkout to a folder that other users can reach, with the data that lies beside it. */
function copyTo(path) {
  console.log(`${checkout} is closed to other users: the tests run in a copy of it at ${path}.`)
  cpSync(checkout, path, { recursive: true, verbatimSymlinks: true })
  spawnSync('chmod', ['-R', 'go+rX', path])
  const data = join(checkout, '..', 'shared')
  if (existsSync(data)) symlinkSync(data, join(path, '..', 'shared'))
  return path
}

/** Prints the files that took longest, so that a slow one is noticed when it is added. */
function printSlowest(files) {
  const seconds = ({ startTime, endTime }) => (endTime - startTime) / 1000
  const slowest = [...files].sort((a, b) => seconds(b) - seconds(a)).slice(0, 10)
  console.log('slowest files:')
  for (const file of slowest) {
    console.log(`${seconds(file).toFixed(1).padStart(8)} s  ${relative(place, file.name)}`)
  }
}

/** Hundreds of databases are created and removed: in memory that takes half the time. */
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
  const { testResults, numPassedTests, numFailedTests, success } = JSON.parse(readFileSync(output, 'utf8'))
  printSlowest(testResults)
  const skipped = testResults.flatMap((file) =>
    file.assertionResults.filter((test) => test.status !== 'passed' && test.status !== 'failed'),
  )
  const unexplained = skipped.filter((test) => !test.fullName.includes('[skipped: '))
  for (const test of skipped) console.log(`skipped: ${test.fullName}`)
  for (const test of unexplained) console.log(`skipped without a reason: ${test.fullName}`)
  console.log(`${numPassedTests} passed, ${numFailedTests + unexplained.length} failed, ${skipped.length} skipped`)
  counted = unexplained.length === 0 && success
} finally {
  rmSync(folder, { recursive: true, force: true })
}
process.exitCode = status === 0 && counted ? 0 : 1
