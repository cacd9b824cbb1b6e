import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { PGlite } from '@electric-sql/pglite'
import { drizzle } from 'drizzle-orm/pglite'
import { TooldexError } from '../../base/errors.ts'
import { toHomeError } from '../../base/home-files.ts'
import { canStartThreads } from '../../base/worker-thread.ts'
import type { Database, Db } from '../database.ts'
import * as schema from '../schema.ts'
import { lockFolderSoon } from './lock-folder.ts'
import { unpackTemplate } from './template.ts'
import type { ThreadedEngine } from './threaded-engine.ts'

type Engine = Pick<PGlite, 'query' | 'transaction' | 'listen' | 'close'> | ThreadedEngine

/** Opens the embedded database in a folder, locked for this process; without a folder in memory. */
export async function openPglite(folder: string | undefined, inThread = false): Promise<Database> {
  const start = inThread && canStartThreads ? startThreaded : startInProcess
  if (folder === undefined) return toDatabase(await start(undefined), undefined, () => {})
  const unlock = await lockFolderSoon(folder).catch((thrown) => {
    throw toHomeError(thrown, folder)
  })
  try {
    const dataDir = join(folder, 'data')
    await unpackTemplate(dataDir).catch((thrown) => {
      throw toHomeError(thrown, dataDir)
    })
    const client = await start(dataDir).catch((thrown) => {
      throw explainStart(thrown, dataDir)
    })
    return toDatabase(client, folder, unlock)
  } catch (error) {
    unlock()
    throw error
  }
}

function toDatabase(client: Engine, folder: string | undefined, unlock: () => void): Database {
  const db = drizzle(client as unknown as PGlite, { schema }) as unknown as Db
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

// Only one of the two is loaded: a process whose engine runs in a thread needs no engine on the main thread.
const startInProcess = async (dataDir: string | undefined): Promise<Engine> =>
  (await import('./start-engine.ts')).startEngine(dataDir)
const startThreaded = async (dataDir: string | undefined): Promise<Engine> =>
  (await import('./threaded-engine.ts')).ThreadedEngine.start(dataDir)

/** Finds the cause of a failed start, which the engine does not report: it could not write, or its files are damaged. */
function explainStart(thrown: unknown, folder: string): unknown {
  const explained = toHomeError(thrown, folder)
  if (explained !== thrown) return explained
  const blocked = probeWrite(folder)
  if (blocked !== undefined) return toHomeError(blocked, folder)
  return new TooldexError('DATABASE_DAMAGED', `The embedded database in ${folder} is damaged and cannot be opened.`, {
    cause: thrown,
  })
}

/** Tries to write a file of the size of a log segment; returns the error. */
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
