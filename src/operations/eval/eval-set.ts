import { statSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import * as z from 'zod'
import { TooldexError } from '../../base/errors.ts'
import type { SearchableTool } from '../../contract/search.ts'
import { readJsonLines } from './read-json-lines.ts'

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
  const tools = readJsonLines(join(folder, 'tools.jsonl'), ToolLine).map(toSearchable)
  const queries = readJsonLines(join(folder, 'queries.jsonl'), QueryLine)
  if (tools.length === 0) throw new TooldexError('FILE_REFUSED', `${join(folder, 'tools.jsonl')} has no tools.`)
  if (queries.length === 0) throw new TooldexError('FILE_REFUSED', `${join(folder, 'queries.jsonl')} has no queries.`)
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
export function findOddities({
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
    ...(unanswered === 0 ? [] : [`${name}: ${unanswered} query(s) have no relevant tool; they are not scored`]),
    ...(ids.size === tools.length
      ? []
      : [`${name}: ${tools.length - ids.size} tool id(s) are duplicates; the last one counts`]),
    ...(queryIds.size === queries.length
      ? []
      : [`${name}: ${queries.length - queryIds.size} query id(s) are duplicates`]),
  ]
}
