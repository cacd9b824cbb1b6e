import * as z from 'zod'
import { loadTokenCounter } from '../base/tokens.ts'
import { CliSummary, type ToolIndexEntry } from '../contract/tool-index.ts'
import { readCursor, writeCursor } from './cursor.ts'
import { toolIdOf } from './live-catalogue.ts'
import { defineOperation } from './operation.ts'
import { signatureOf } from './signature.ts'

/** How much of each tool an answer shows. */
export const SearchLevel = z.enum(['line', 'summary', 'schema'])

/** One hit: enough to choose, and at level `schema` enough to call. */
export const SearchHit = z.object({
  id: z.string(),
  name: z.string(),
  /** The call as one would write it: `git_log(max_count?: integer = 10)`. */
  signature: z.string(),
  shortDescription: z.string(),
  namespace: z.string().optional(),
  category: z.string().nullable().optional(),
  tags: z.array(z.string()).optional(),
  description: z.string().optional(),
  inputSchema: z.record(z.string(), z.unknown()).optional(),
  score: z.number(),
})
export type SearchHit = z.infer<typeof SearchHit>

const Input = z.object({
  query: z.string().nullish(),
  category: z.string().nullish(),
  cli: z.string().nullish(),
  namespace: z.string().nullish(),
  tags: z.array(z.string()).nullish(),
  level: SearchLevel.nullish().transform((level) => level ?? 'summary'),
  limit: z
    .int()
    .min(0)
    .max(100)
    .nullish()
    .transform((limit) => limit ?? 10),
  cursor: z.string().nullish(),
  budgetTokens: z.int().min(1).nullish(),
})
type Input = z.infer<typeof Input>

/** Find tools by what they do. */
export const searchTools = defineOperation({
  name: 'tools.search',
  summary: 'Find tools by what they do; without a query or filter, the overview of what there is.',
  scope: 'read',
  input: Input,
  output: z.object({
    mode: z.enum(['search', 'summary']),
    results: z.array(SearchHit).optional(),
    summary: z.array(CliSummary).optional(),
    nextCursor: z.string().optional(),
    spentTokens: z.int(),
    omitted: z.int(),
  }),
  async handle(input, { catalogue }) {
    const count = await loadTokenCounter()
    const { index, ranked, version } = catalogue.current()
    if (isUnfiltered(input)) {
      const summary = index.summary().slice(0, input.limit)
      const omitted = index.summary().length - summary.length
      return { mode: 'summary' as const, summary: [...summary], spentTokens: count(JSON.stringify(summary)), omitted }
    }
    const { limit, cursor, level, budgetTokens } = input
    const about = [version, input.query, input.category, input.cli, input.namespace, input.tags]
    const offset = cursor == null ? 0 : readCursor(cursor, about)
    const matches = ranked.search({ query: input.query ?? '', accept: (entry) => accepts(entry, input) })
    const results: SearchHit[] = []
    let spentTokens = 0
    for (const { entry, score } of matches.slice(offset, offset + limit)) {
      const hit = toHit(entry, score, level)
      const cost = count(JSON.stringify(hit))
      if (budgetTokens != null && spentTokens + cost > budgetTokens) break
      spentTokens += cost
      results.push(hit)
    }
    const end = offset + results.length
    const more = end < matches.length && results.length > 0 ? { nextCursor: writeCursor(end, about) } : {}
    return { mode: 'search' as const, results, spentTokens, omitted: matches.length - end, ...more }
  },
})

function isUnfiltered({ query, category, cli, namespace, tags }: Input): boolean {
  return query == null && category == null && cli == null && namespace == null && tags == null
}

function accepts(entry: ToolIndexEntry, { category, cli, namespace, tags }: Input): boolean {
  const same = (filter: string | null | undefined, value: string | null) =>
    filter == null || filter === '' || filter.toLowerCase() === value?.toLowerCase()
  const hasTag = (tag: string) => entry.tags.some((own) => own.toLowerCase() === tag.toLowerCase())
  const source = same(cli, entry.cliName) && same(namespace, entry.cliName)
  return source && same(category, entry.category) && (tags == null || tags.every(hasTag))
}

function toHit(entry: ToolIndexEntry, score: number, level: z.infer<typeof SearchLevel>): SearchHit {
  const rounded = Math.round(score * 1000) / 1000
  const signature = signatureOf(entry.toolName, entry.inputSchema)
  const shortDescription = shorten(entry.description, level === 'line' ? 60 : 120)
  const line = { id: toolIdOf(entry), name: entry.toolName, signature, shortDescription, score: rounded }
  if (level === 'line') return line
  const summary = { ...line, namespace: entry.cliName, category: entry.category, tags: entry.tags }
  if (level === 'summary') return summary
  return { ...summary, description: entry.description, inputSchema: entry.inputSchema }
}

/** The start of a text, cut at a character and not inside one. */
export function shorten(text: string, most: number): string {
  const characters = Array.from(text)
  return characters.length <= most
    ? text
    : `${characters
        .slice(0, most - 1)
        .join('')
        .trimEnd()}…`
}
