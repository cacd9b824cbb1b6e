import type { Environment } from '../base/expand-variables.ts'
import { readSetting } from '../rules/settings.ts'
import { tooldexHome } from '../sources/cli/index.ts'
import { type Database, migrate, openDatabase, readMigrations, waitForDatabase } from '../storage/index.ts'

/** Opens the database that the environment names: DATABASE_URL, or the embedded one in TOOLDEX_HOME. */
export async function openOwnDatabase(
  env?: Environment,
  { inThread = false }: { readonly inThread?: boolean } = {},
): Promise<Database> {
  const limits = { connections: readSetting('TOOLDEX_DATABASE_CONNECTIONS', env) }
  const url = readSetting('DATABASE_URL', env)
  const database = await openDatabase({ url, home: tooldexHome(env), limits, inThread })
  return orClose(database, () => waitForDatabase(database, { ms: 0 }))
}

/** Opens and migrates the database; the steps are reported unless the database is new. */
export async function openMigratedDatabase(
  env: Environment | undefined,
  report: (line: string) => void = () => {},
  where: { readonly inThread?: boolean } = {},
): Promise<Database> {
  const database = await openOwnDatabase(env, where)
  const steps: string[] = []
  await orClose(database, () => migrate(database, (step) => void steps.push(step)))
  const isNew = steps.length === readMigrations().length
  if (steps.length > 0 && !isNew) report(`database migrated: ${steps.join(', ')}`)
  return database
}

async function orClose(database: Database, work: () => Promise<void>): Promise<Database> {
  try {
    await work()
    return database
  } catch (error) {
    await database.close().catch(() => {})
    throw error
  }
}
