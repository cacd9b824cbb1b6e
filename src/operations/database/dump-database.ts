import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { Readable } from 'node:stream'
import * as z from 'zod'
import { TooldexError } from '../../base/errors.ts'
import { migrate, readDump, readMigrationState, restoreDump, writeDump } from '../../storage/index.ts'
import { defineOperation, type OperationContext } from '../operation.ts'
import { readDumpLines, writeDumpLines } from './dump-file.ts'

/** Writes the whole database to a file. */
export const exportDatabase = defineOperation({
  name: 'database.export',
  summary: 'Write a consistent snapshot of the whole database to a file that any engine can import.',
  scope: 'admin',
  needs: ['database'],
  input: z.object({ file: z.string().min(1) }),
  output: z.object({ file: z.string(), rows: z.record(z.string(), z.int()), sha256: z.string() }),
  async handle({ file }, context) {
    const { database } = context
    const { pending } = await readMigrationState(database)
    if (pending.length > 0)
      throw new TooldexError('MIGRATION_FAILED', 'The database is not up to date, so it cannot be exported.', {
        hint: 'Run tooldex db migrate first.',
      })
    const path = resolve(file)
    let lines = 0
    const trailer = await writeDumpLines(path, (write) =>
      writeDump(database, async (line) => {
        context.signal?.throwIfAborted()
        await write(line)
        if (++lines % 1000 === 0) context.onProgress?.(lines)
      }),
    )
    return { file: path, ...trailer }
  },
})

/** Downloads the whole database. */
export const backupDatabase = defineOperation({
  name: 'database.backup',
  summary: 'Download a consistent snapshot of the whole database, as a file for db restore.',
  scope: 'admin',
  needs: ['database', 'registry'],
  http: { method: 'get', path: '/database/backup', tag: 'database', media: 'application/x-ndjson' },
  input: z.object({}),
  output: z.custom<globalThis.ReadableStream<Uint8Array>>((value) => value instanceof ReadableStream),
  async handle(_input, context) {
    refuseOthers(context)
    await context.registry.stores.audit.add(context.caller, { action: 'database.backup', subject: 'database' })
    return spool(context)
  },
})

/** The dump contains the rows of every workspace, so only the owner of the installation may read it. */
function refuseOthers({ caller }: OperationContext): void {
  if (caller.workspace === 'default') return
  throw new TooldexError('FORBIDDEN', 'Only administrators of the first workspace may download the whole database.')
}

/** Buffers the dump in a file, so that a slow or stalled reader does not keep a transaction open. */
async function spool(context: OperationContext<'database'>): Promise<ReadableStream<Uint8Array>> {
  const folder = await mkdtemp(join(tmpdir(), 'tooldex-backup-'))
  try {
    const file = join(folder, 'dump')
    await writeDumpLines(file, (write) =>
      writeDump(context.database, (line) => {
        context.signal?.throwIfAborted()
        return write(line)
      }),
    )
    const handle = await open(file, 'r')
    return Readable.toWeb(handle.createReadStream()) as ReadableStream<Uint8Array>
  } finally {
    // An open file stays readable after unlink, and nothing is left behind however this process ends.
    await rm(folder, { recursive: true, force: true })
  }
}

/** Imports a file written by export. */
export const importDatabase = defineOperation({
  name: 'database.import',
  summary: 'Import a file written by export, all or nothing, into an empty database or in place of the current data.',
  scope: 'admin',
  needs: ['database'],
  input: z.object({
    file: z.string().min(1).describe('File written by backup or export.'),
    replace: z.boolean().default(false).describe('Delete the current content of the database.'),
  }),
  output: z.object({ file: z.string(), rows: z.record(z.string(), z.int()) }),
  async handle({ file, replace }, context) {
    const path = resolve(file)
    const lines = () => untilAborted(readDumpLines(path), context.signal)
    // A damaged file is rejected before it blocks anything in the database.
    for await (const _ of readDump(lines()));
    const { database } = context
    await migrate(database, context.onStep)
    const { rows } = await restoreDump(database, { lines, replace, onRows: context.onProgress })
    return { file: path, rows }
  },
})

async function* untilAborted(lines: AsyncIterable<string>, signal: AbortSignal | undefined): AsyncGenerator<string> {
  for await (const line of lines) {
    signal?.throwIfAborted()
    yield line
  }
}
