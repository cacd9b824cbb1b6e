import { createHash } from 'node:crypto'
import * as z from 'zod'
import { TooldexError } from '../../base/errors.ts'

// The file, one JSON value a line:
//   {"format":"tooldex-dump-1","migrations":[...],"createdAt":"..."}
//   ["tools",{"id":"...","name":"...",...}]       one line a row, table by table, what is referred to first
//   {"rows":{"tools":1,...},"sha256":"..."}       of every line before this one, line ends included
// A row is what the database itself writes of it as JSON: numbers keep all their digits, objects the order of their
// keys, and no engine is in it.

/** The first line: what can read the file. */
export const DumpHeader = z.object({
  format: z.literal('tooldex-dump-1'),
  migrations: z.array(z.string()),
  createdAt: z.string(),
})
export type DumpHeader = z.infer<typeof DumpHeader>

/** The last line: what must have been read by then. */
export const DumpTrailer = z.object({ rows: z.record(z.string(), z.int()), sha256: z.string() })
export type DumpTrailer = z.infer<typeof DumpTrailer>

/** A row as it stands in the file. */
export interface DumpRow {
  readonly table: string
  /** A JSON object, as text. */
  readonly row: string
}

/** Adds up what went by. */
export class DumpTally {
  readonly #hash = createHash('sha256')
  readonly #rows = new Map<string, number>()

  line(line: string): void {
    this.#hash.update(line).update('\n')
  }

  row(table: string): void {
    this.#rows.set(table, (this.#rows.get(table) ?? 0) + 1)
  }

  finish(): DumpTrailer {
    return { rows: Object.fromEntries(this.#rows), sha256: this.#hash.digest('hex') }
  }
}

/** A file that is not, or not any more, what was written. */
export const dumpRefused = (why: string, cause?: unknown): TooldexError =>
  new TooldexError('FILE_REFUSED', `The file cannot be read back: ${why}. Nothing was changed.`, {
    hint: 'Give a whole file that tooldex db backup or tooldex db export wrote.',
    cause,
  })
