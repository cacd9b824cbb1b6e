import { cpSync, existsSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Database, migrate, openDatabase } from '../../src/storage/index.ts'
import { lastingFolder, tempFolder } from './temp-folder.ts'

const templateHome = 'TOOLDEX_TEST_HOME'

/** Whether there is a migrated database to copy. */
export const hasTemplateHome = (): boolean => process.env[templateHome] !== undefined

/** Names the home whose migrated database is copied in the test processes started after this call. */
export const setTemplateHome = (home: string): void => {
  process.env[templateHome] = home
}

/** Gives a home without a database a migrated one: a copy takes a moment, all migrations take seconds. */
export function copyDatabaseTo(home: string): void {
  const [from, to] = [join(process.env[templateHome] ?? '', 'db', 'data'), join(home, 'db', 'data')]
  if (!hasTemplateHome() || existsSync(to)) return
  mkdirSync(join(home, 'db'), { recursive: true, mode: 0o700 })
  cpSync(from, to, { recursive: true })
}

/** A temporary home with a migrated embedded database; it is removed when the test ends. */
export function migratedHome(): string {
  const home = tempFolder()
  copyDatabaseTo(home)
  return home
}

/** Opens a migrated database: the one at the URL or in the home, otherwise an embedded one that is removed on close. */
export async function openMigrated(
  where: { url?: string | undefined; home?: string | undefined } = {},
  openIt: typeof openDatabase = openDatabase,
): Promise<Database> {
  const own = where.url === undefined && where.home === undefined ? lastingFolder() : undefined
  const home = own ?? where.home
  if (where.url === undefined && home !== undefined) copyDatabaseTo(home)
  const database = await openIt({ url: where.url, home })
  await migrate(database)
  if (own === undefined) return database
  const close = async () => {
    await database.close()
    rmSync(own, { recursive: true, force: true })
  }
  return { ...database, close }
}
