import { join } from 'node:path'
import { PGlite, types } from '@electric-sql/pglite'
import { pg_trgm } from '@electric-sql/pglite/contrib/pg_trgm'
import { drizzle } from 'drizzle-orm/pglite'
import type { Database, Db } from '../database.ts'
import * as schema from '../schema.ts'
import { lockFolderSoon } from './lock-folder.ts'
import { templateBlob, unpackTemplate } from './template.ts'

/** Opens the embedded database in a folder, for this process alone; without a folder it lives in memory. */
export async function openPglite(folder: string | undefined): Promise<Database> {
  const unlock = folder === undefined ? () => {} : await lockFolderSoon(folder)
  try {
    const data = folder === undefined ? undefined : join(folder, 'data')
    if (data !== undefined) unpackTemplate(data)
    const loadDataDir = data === undefined ? templateBlob() : undefined
    const client = await PGlite.create({
      ...(data === undefined ? {} : { dataDir: data }),
      ...(loadDataDir === undefined ? {} : { loadDataDir }),
      extensions: { pg_trgm },
      // Read by the query builder: it would read a second time what is read already, and make a number of the text "11".
      parsers: { [types.JSON]: asText, [types.JSONB]: asText },
    })
    const db = drizzle(client, { schema }) as unknown as Db
    return {
      engine: 'pglite',
      name: folder ?? 'memory',
      db,
      slow: db,
      listen: (channel, onNotice) => client.listen(channel, onNotice),
      async close() {
        await client.close()
        unlock()
      },
    }
  } catch (error) {
    unlock()
    throw error
  }
}

const asText = (text: string): string => text
