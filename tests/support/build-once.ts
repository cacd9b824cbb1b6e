import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTemplateHome } from './migrated-database.ts'
import { mainFile } from './run-cli.ts'
import { isSharedPostgresStarted, startSharedPostgres, templateUrl } from './start-postgres.ts'

/** Builds the package, starts the PostgreSQL server that test files share, and migrates the databases that they copy. */
export async function setup(): Promise<(() => Promise<void>) | undefined> {
  // Vitest calls this for the root and for each project of the configuration.
  if (isSharedPostgresStarted()) return undefined
  execFileSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit' })
  const postgres = await startSharedPostgres()
  const home = mkdtempSync(join(tmpdir(), 'tooldex-template-'))
  for (const url of ['', await templateUrl(postgres)]) {
    const env = { ...process.env, TOOLDEX_HOME: home, DATABASE_URL: url }
    execFileSync(process.execPath, [mainFile, 'db', 'migrate'], { env, stdio: 'ignore' })
  }
  setTemplateHome(home)
  return async () => {
    await postgres.stop()
    rmSync(home, { recursive: true, force: true })
  }
}
