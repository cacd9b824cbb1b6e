import { resolve } from 'node:path'
import * as z from 'zod'
import { migrate, readDump, restoreDump } from '../../storage/index.ts'
import { defineOperation } from '../operation.ts'
import { readLines } from './dump-file.ts'

/** Imports a file written by export. */
export const importDatabase = defineOperation({
  name: 'database.import',
  summary: 'Import a file written by export, all or nothing, into an empty database or in place of the current data.',
  scope: 'admin',
  needs: ['database'],
  input: z.object({ file: z.string().min(1), replace: z.boolean().default(false) }),
  output: z.object({ file: z.string(), rows: z.record(z.string(), z.int()) }),
  async handle({ file, replace }, context) {
    const path = resolve(file)
    const lines = () => untilAborted(readLines(path), context.signal)
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
