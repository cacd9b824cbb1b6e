import { sameJson } from '../../base/json-values.ts'
import { DumpHeader, type DumpRow, DumpTally, DumpTrailer, dumpRefused } from './format.ts'

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
