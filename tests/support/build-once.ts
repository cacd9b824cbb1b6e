import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type * as Executors from '../../src/executors/index.ts'
import { hasTemplateHome, setTemplateHome } from './migrated-database.ts'
import { mainFile, projectRoot } from './run-cli.ts'
import { setNoSandbox } from './test-sandbox.ts'

/**
 * Builds the package, which tests of the command line run, migrates the embedded database that tests copy, and determines whether
 * there is a sandbox.
 */
export async function setup(): Promise<(() => void) | undefined> {
  // Vitest calls this for each project of the configuration.
  if (hasTemplateHome()) return undefined
  execFileSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit' })
  const home = mkdtempSync(join(tmpdir(), 'tooldex-template-'))
  const env = { ...process.env, TOOLDEX_HOME: home, DATABASE_URL: '' }
  execFileSync(process.execPath, [mainFile, 'db', 'migrate'], { env, stdio: 'ignore' })
  setTemplateHome(home)
  const { Sandbox } = (await import(join(projectRoot, 'dist', 'executors', 'index.js'))) as typeof Executors
  const { isolated, confined } = new Sandbox({ env: process.env }).levels
  if ('reason' in (await isolated.run()) && 'reason' in (await confined.run())) setNoSandbox()
  return () => rmSync(home, { recursive: true, force: true })
}
