import { execFileSync } from 'node:child_process'
import { isSharedPostgresStarted, startSharedPostgres } from './start-postgres.ts'

/** Builds the package, which tests of the command line run, and starts the PostgreSQL server that test files share. */
export async function setup(): Promise<(() => Promise<void>) | undefined> {
  // Vitest calls this for the root and for each project of the configuration.
  if (isSharedPostgresStarted()) return undefined
  execFileSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit' })
  const postgres = await startSharedPostgres()
  return () => postgres.stop()
}
