// Installs the SDKs of examples/bindings in a temporary folder, compiles the example against them and the built package, and runs it.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'tooldex-examples-'))
const run = (program, args) => spawnSync(program, args, { cwd: folder, stdio: 'inherit' }).status ?? 1
try {
  cpSync(join(root, 'examples', 'bindings'), folder, { recursive: true })
  const installed =
    run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts']) || run('npm', ['ls', '--depth', '0'])
  if (installed === 0) symlinkSync(root, join(folder, 'node_modules', 'tooldex'))
  process.exitCode =
    installed ||
    run(process.execPath, [join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', '.']) ||
    run(process.execPath, ['run.mjs'])
} finally {
  rmSync(folder, { recursive: true, force: true })
}
