import type * as z from 'zod'
import { TooldexError } from '../../base/errors.ts'
import { collapseSpaces } from '../../diagnostics/sentences.ts'
import { describedParse, describeIssue } from '../../diagnostics/zod-issues.ts'
import { readTextFile } from '../../documents/read-text-file.ts'

/** The size limit of a file of a set, because sets are held in memory. */
const maxBytes = 256 * 1024 * 1024

const hint = 'A set is a folder with tools.jsonl and queries.jsonl, one JSON object on each line.'

/** The objects of a JSONL file; the first invalid line is reported by its number. */
export function readJsonLines<Line extends z.ZodType>(file: string, line: Line): readonly z.output<Line>[] {
  const values: z.output<Line>[] = []
  for (const [index, text] of readSetFile(file).split('\n').entries()) {
    if (text.trim() === '') continue
    const parsed = line.safeParse(parseJson(file, text, index + 1), describedParse)
    if (!parsed.success) throw refuseLine(file, index + 1, wordsOf(parsed.error))
    values.push(parsed.data)
  }
  return values
}

/** One JSON value that fills a file. */
export function readJsonFile<Value extends z.ZodType>(file: string, value: Value, advice: string): z.output<Value> {
  const parsed = value.safeParse(parseJson(file, readSetFile(file, advice), 1, advice), describedParse)
  if (!parsed.success) throw refuseLine(file, 1, wordsOf(parsed.error), advice)
  return parsed.data
}

function readSetFile(file: string, advice = hint): string {
  try {
    return readTextFile(file, maxBytes)
  } catch (cause) {
    if (!(cause instanceof TooldexError) || cause.code !== 'CONFIG_NOT_FOUND') throw cause
    throw new TooldexError('FILE_REFUSED', cause.message, { hint: advice, cause })
  }
}

function parseJson(file: string, text: string, line: number, advice = hint): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw refuseLine(file, line, `this is not JSON: ${collapseSpaces((cause as Error).message)}`, advice)
  }
}

const wordsOf = ({ issues }: z.ZodError): string => issues.map((issue) => describeIssue(issue).message).join('; ')

function refuseLine(file: string, line: number, message: string, advice = hint): TooldexError {
  const problems = [{ severity: 'error', file, line, message, hint: advice } as const]
  return new TooldexError('FILE_REFUSED', `${file}:${line}: ${message}.`, { hint: advice, problems })
}
