import { createHash } from 'node:crypto'
import * as z from 'zod'
import { TooldexError } from '../../base/errors.ts'

// The file, one JSON value per line:
//   {"format":"tooldex-dump-1","migrations":[...],"createdAt":"..."}
//   ["tools",{"id":"...","name":"...",...}]       one line per row, table by table, referenced tables first
//   {"rows":{"tools":1,...},"sha256":"..."}       of every line before this one, line ends included
// A row is the JSON that the database itself writes: numbers keep all their digits, objects the order of their
// keys, and the format does not depend on the engine.

/** The first line: the format and the migrations of the file. */
export const DumpHeader = z.object({
  format: z.literal('tooldex-dump-1'),
  migrations: z.array(z.string()),
  createdAt: z.string(),
})
export type DumpHeader = z.infer<typeof DumpHeader>

/** The last line: the number of rows and the checksum. */
export const DumpTrailer = z.object({ rows: z.record(z.string(), z.int()), sha256: z.string() })
export type DumpTrailer = z.infer<typeof DumpTrailer>

/** A row of the file. */
export interface DumpRow {
  readonly table: string
  /** A JSON object, as text. */
  readonly row: string
}

/** Counts the rows and computes the checksum. */
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

/** The error for an invalid or damaged file. */
export const dumpRefused = (why: string, cause?: unknown): TooldexError =>
  new TooldexError('FILE_REFUSED', `The file is not a valid backup: ${why}. Nothing was changed.`, {
    hint: 'Use a complete file from tooldex db backup or tooldex db export.',
    cause,
  })
