import { statSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import * as z from 'zod'
import { TooldexError } from '../../base/errors.ts'
import type { SearchableTool } from '../../contract/search.ts'
import { collapseSpaces } from '../../diagnostics/sentences.ts'
import { describedParse, describeZodIssue } from '../../diagnostics/zod-issues.ts'
import { readTextFile } from '../../documents/read-text-file.ts'

/** A query and the ids of its relevant tools. */
export const QueryLine = z.object({ id: z.string(), query: z.string(), relevant: z.array(z.string()) })
export type QueryLine = z.infer<typeof QueryLine>

const ToolLine = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string().nullish(),
  namespace: z.string().nullish(),
  category: z.string().nullish(),
  tags: z.array(z.string()).nullish(),
  input_schema: z.record(z.string(), z.unknown()).nullish(),
})

/** Tools, and queries with known relevant tools. */
export interface EvalSet {
  readonly name: string
  readonly tools: readonly SearchableTool[]
  readonly queries: readonly QueryLine[]
}

/** Reads the set in a folder. */
export function readEvalSet(folder: string): EvalSet {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    const hint = 'Pass a folder with tools.jsonl and queries.jsonl.'
    throw new TooldexError('FILE_REFUSED', `${folder} is not a folder.`, { hint })
  }
  const tools = readEvalLines(join(folder, 'tools.jsonl'), ToolLine).map(toSearchable)
  const queries = readEvalLines(join(folder, 'queries.jsonl'), QueryLine)
  if (tools.length === 0)
    throw new TooldexError('FILE_REFUSED', `${join(folder, 'tools.jsonl')} has no tools.`, { hint })
  if (queries.length === 0)
    throw new TooldexError('FILE_REFUSED', `${join(folder, 'queries.jsonl')} has no queries.`, { hint })
  return { name: basename(resolve(folder)), tools, queries }
}

function toSearchable(line: z.infer<typeof ToolLine>): SearchableTool {
  const { id, name, description, namespace, category, tags, input_schema: inputSchema } = line
  return {
    id,
    name,
    description: description ?? '',
    ...(namespace == null ? {} : { namespace }),
    ...(category == null ? {} : { category }),
    ...(tags == null ? {} : { tags }),
    ...(inputSchema == null ? {} : { inputSchema }),
  }
}

/** Warnings about a set that do not prevent its evaluation. */
export function findEvalSetWarnings({
  name,
  tools,
  queries,
}: Pick<EvalSet, 'name' | 'queries'> & { readonly tools: readonly { readonly id: string }[] }): readonly string[] {
  const ids = new Set(tools.map((tool) => tool.id))
  const unknown = queries.flatMap((query) => query.relevant).filter((id) => !ids.has(id)).length
  const unanswered = queries.filter((query) => query.relevant.length === 0).length
  const queryIds = new Set(queries.map((query) => query.id))
  return [
    ...(unknown === 0 ? [] : [`${name}: ${unknown} relevant id(s) match no tool; they count as not found`]),
    ...(unanswered === 0
      ? []
      : [`${name}: ${unanswered} query(s) have no relevant tool; they count for the verdict only`]),
    ...(ids.size === tools.length
      ? []
      : [`${name}: ${tools.length - ids.size} tool id(s) are duplicates; the last one counts`]),
    ...(queryIds.size === queries.length
      ? []
      : [`${name}: ${queries.length - queryIds.size} query id(s) are duplicates`]),
  ]
}

/** The size limit of a file of a set, because sets are held in memory. */
const maxBytes = 256 * 1024 * 1024

const hint = 'A set is a folder with tools.jsonl and queries.jsonl, one JSON object on each line.'

/** The objects of a JSONL file; the first invalid line is reported by its number. */
export function readEvalLines<Line extends z.ZodType>(file: string, line: Line): readonly z.output<Line>[] {
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
export function readEvalFile<Value extends z.ZodType>(file: string, value: Value, advice: string): z.output<Value> {
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

const wordsOf = ({ issues }: z.ZodError): string => issues.map((issue) => describeZodIssue(issue).message).join('; ')

function refuseLine(file: string, line: number, message: string, advice = hint): TooldexError {
  const problems = [{ severity: 'error', file, line, message, hint: advice } as const]
  return new TooldexError('FILE_REFUSED', `${file}:${line}: ${message}.`, { hint: advice, problems })
}
