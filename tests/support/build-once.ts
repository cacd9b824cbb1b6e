import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hasTemplateHome, setTemplateHome } from './migrated-database.ts'
import { mainFile } from './run-cli.ts'

/** Builds the package, which tests of the command line run, and migrates the embedded database that tests copy. */
export function setup(): (() => void) | undefined {
  // Vitest calls this for each project of the configuration.
  if (hasTemplateHome()) return undefined
  execFileSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit' })
  const home = mkdtempSync(join(tmpdir(), 'tooldex-template-'))
  const env = { ...process.env, TOOLDEX_HOME: home, DATABASE_URL: '' }
  execFileSync(process.execPath, [mainFile, 'db', 'migrate'], { env, stdio: 'ignore' })
  setTemplateHome(home)
  return () => rmSync(home, { recursive: true, force: true })
}
