import { resolve } from 'node:path'
import * as z from 'zod'
import { TooldexError } from '../../base/errors.ts'
import { readState, writeDump } from '../../storage/index.ts'
import { defineOperation } from '../operation.ts'
import { writeLines } from './dump-file.ts'

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
    const { pending } = await readState(database)
    if (pending.length > 0)
      throw new TooldexError('MIGRATION_FAILED', 'The database is not up to date, so it cannot be exported.', {
        hint: 'Run tooldex db migrate first.',
      })
    const path = resolve(file)
    let lines = 0
    const trailer = await writeLines(path, (write) =>
      writeDump(database, async (line) => {
        context.signal?.throwIfAborted()
        await write(line)
        if (++lines % 1000 === 0) context.onProgress?.(lines)
      }),
    )
    return { file: path, ...trailer }
  },
})
