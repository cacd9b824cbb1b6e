import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { PGlite, types } from '@electric-sql/pglite'
import { pg_trgm } from '@electric-sql/pglite/contrib/pg_trgm'
import { drizzle } from 'drizzle-orm/pglite'
import { TooldexError } from '../../base/errors.ts'
import { inHome, toHomeError } from '../../base/file-system-error.ts'
import type { Database, Db } from '../database.ts'
import * as schema from '../schema.ts'
import { lockFolderSoon } from './lock-folder.ts'
import { templateBlob, unpackTemplate } from './template.ts'

/** Opens the embedded database in a folder, for this process alone; without a folder it lives in memory. */
export async function openPglite(folder: string | undefined): Promise<Database> {
  if (folder === undefined) return toDatabase(await start({ loadDataDir: templateBlob() }), undefined, () => {})
  const unlock = await lockFolderSoon(folder).catch((thrown) => {
    throw toHomeError(thrown, folder)
  })
  try {
    const dataDir = join(folder, 'data')
    inHome(dataDir, () => unpackTemplate(dataDir))
    const client = await start({ dataDir }).catch((thrown) => {
      throw explainStart(thrown, dataDir)
    })
    return toDatabase(client, folder, unlock)
  } catch (error) {
    unlock()
    throw error
  }
}

function toDatabase(client: PGlite, folder: string | undefined, unlock: () => void): Database {
  const db = drizzle(client, { schema }) as unknown as Db
  return {
    engine: 'pglite',
    name: folder ?? 'memory',
    db,
    slow: db,
    heartbeat: db,
    listen: (channel, onNotice) => client.listen(channel, onNotice),
    async close() {
      await client.close()
      unlock()
    },
  }
}

/** Starts the engine; a text that is read by the query builder must not be read twice, or "11" becomes a number. */
async function start(place: { dataDir?: string; loadDataDir?: Blob | undefined }): Promise<PGlite> {
  setFlagsFromString(`--wasm-tiering-budget=${tieringBudget.engine}`)
  try {
    return await PGlite.create({
      ...(place.dataDir === undefined ? {} : { dataDir: place.dataDir }),
      ...(place.loadDataDir === undefined ? {} : { loadDataDir: place.loadDataDir }),
      extensions: { pg_trgm },
      parsers: { [types.JSON]: asText, [types.JSONB]: asText },
    })
  } finally {
    setFlagsFromString(`--wasm-tiering-budget=${tieringBudget.others}`)
  }
}

/**
 * Work after which V8 compiles a WebAssembly function again, optimized; a module keeps the budget it was instantiated with. With the
 * default, opening the engine optimizes seventy functions, a third of the CPU time of a command; a server optimizes them later.
 */
const tieringBudget = { engine: 500_000_000, others: 1_800_000 }

/** The engine ends without a reason that it can name: either it could not write, or its files are damaged. */
function explainStart(thrown: unknown, folder: string): unknown {
  const known = toHomeError(thrown, folder)
  if (known !== thrown) return known
  const blocked = probeWrite(folder)
  if (blocked !== undefined) return toHomeError(blocked, folder)
  return new TooldexError('DATABASE_DAMAGED', `The embedded database in ${folder} is damaged and cannot be opened.`, {
    cause: thrown,
  })
}

/** The error of writing as much as the engine needs for one file of its log. */
function probeWrite(folder: string): unknown {
  const file = join(folder, `probe.${process.pid}`)
  try {
    writeFileSync(file, Buffer.alloc(probeBytes))
    return undefined
  } catch (error) {
    return error
  } finally {
    rmSync(file, { force: true })
  }
}

const probeBytes = 1024 * 1024

const asText = (text: string): string => text
