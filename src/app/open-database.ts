import { tooldexHome } from '../sources/cli/index.ts'
import { type Database, openDatabase, waitForAnswer } from '../storage/index.ts'

/** Opens the database that the environment names: DATABASE_URL, or the embedded one in TOOLDEX_HOME. */
export async function openOwnDatabase(
  env: NodeJS.ProcessEnv = process.env,
  { waitMs = 0, onWait }: { waitMs?: number; onWait?: (reason: string) => void } = {},
): Promise<Database> {
  const database = await openDatabase({ url: env.DATABASE_URL, home: tooldexHome(env) })
  try {
    await waitForAnswer(database, { ms: waitMs, ...(onWait === undefined ? {} : { onWait }) })
    return database
  } catch (error) {
    await database.close().catch(() => {})
    throw error
  }
}
