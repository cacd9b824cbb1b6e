import { createHash } from 'node:crypto'
import * as z from 'zod'
import { TooldexError } from '../../base/errors.ts'
import { sameJson } from '../../base/json-values.ts'

/** Reads a file line by line; the file is verified as complete and unchanged only at its end. */
export async function* readDump(lines: AsyncIterable<string>): AsyncGenerator<DumpHeader | DumpRow, DumpTrailer> {
  const tally = new DumpTally()
  let trailer: DumpTrailer | undefined
  let first = true
  for await (const line of lines) {
    if (trailer !== undefined) throw dumpRefused('it has more lines after its trailer')
    if (first) yield parse(DumpHeader, line, 'its first line is not a valid header')
    else if (line.startsWith('[')) yield readRow(line, tally)
    else trailer = parse(DumpTrailer, line, 'it has a damaged line')
    if (trailer === undefined) tally.line(line)
    first = false
  }
  if (first) throw dumpRefused('it is empty')
  if (trailer === undefined) throw dumpRefused('it is incomplete: the trailer is missing')
  const { rows, sha256 } = tally.finish()
  if (sha256 !== trailer.sha256 || !sameJson(rows, trailer.rows))
    throw dumpRefused('its checksum or row counts do not match')
  return trailer
}

function readRow(line: string, tally: DumpTally): DumpRow {
  const [, table] = /^\["([a-z_]{1,60})",\{/.exec(line) ?? []
  if (table === undefined || !line.endsWith('}]')) throw dumpRefused('it has a damaged line')
  tally.row(table)
  return { table, row: line.slice(table.length + 4, -1) }
}

function parse<Schema extends typeof DumpHeader | typeof DumpTrailer>(schema: Schema, line: string, why: string) {
  try {
    return schema.parse(JSON.parse(line)) as Schema['_output']
  } catch (cause) {
    throw dumpRefused(why, cause)
  }
}

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
