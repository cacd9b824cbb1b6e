import * as z from 'zod'
import { loadTokenCounter } from '../base/tokens.ts'
import { Explanation, SearchMode } from '../contract/search.ts'
import { CliSummary } from '../contract/tool-index.ts'
import type { EngineQuery } from '../search/index.ts'
import { readCursor, writeCursor } from './cursor.ts'
import { explainAbsent } from './explain-absent.ts'
import { type CatalogueSnapshot, toolIdOf } from './live-catalogue.ts'
import { defineOperation, type OperationContext } from './operation.ts'
import { acceptsEntry, countFacets, type SearchFilters } from './search-filters.ts'
import { type Candidate, fitHits, SearchHit, SearchLevel } from './search-hits.ts'

const Input = z.object({
  query: z.string().nullish(),
  category: z.string().nullish(),
  cli: z.string().nullish(),
  namespace: z.string().nullish(),
  tags: z.array(z.string()).nullish(),
  tagsMatch: z.enum(['all', 'any']).nullish(),
  /** How much to show of each; where absent, as much as fits the budget. */
  level: SearchLevel.nullish(),
  limit: z.int().min(0).max(100).nullish(),
  cursor: z.string().nullish(),
  budgetTokens: z.int().min(1).nullish(),
  mode: SearchMode.nullish(),
  minScore: z.number().min(0).max(1).nullish(),
  /** Counts the categories, namespaces and tags of everything that was found. */
  facets: z.boolean().nullish(),
  /** Says of each answer why it is where it is. */
  explain: z.boolean().nullish(),
  /** Says of one tool why it is or is not among the answers. */
  explainTool: z.string().nullish(),
})
type Input = z.infer<typeof Input>

const FacetCount = z.object({ value: z.string(), count: z.int() })

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
    facets: z
      .object({ category: z.array(FacetCount), namespace: z.array(FacetCount), tag: z.array(FacetCount) })
      .optional(),
    /** Said where an answer is not what it could be. */
    note: z.string().optional(),
    explained: z.object({ tool: z.string(), reason: z.string(), explanation: Explanation.optional() }).optional(),
  }),
  handle: (input, context) => (isUnfiltered(input) ? overview(input, context) : search(input, context)),
})

function isUnfiltered({ query, category, cli, namespace, tags }: Input): boolean {
  return query == null && category == null && cli == null && namespace == null && tags == null
}

async function overview({ limit }: Input, { catalogue }: OperationContext) {
  const count = await loadTokenCounter()
  const all = catalogue.current().index.summary()
  const summary = all.slice(0, limit ?? all.length)
  const spentTokens = count(JSON.stringify(summary))
  return { mode: 'summary' as const, summary, spentTokens, omitted: all.length - summary.length }
}

async function search(input: Input, context: OperationContext) {
  const count = await loadTokenCounter()
  const { catalogue, memory } = context
  const snapshot = catalogue.current()
  const filters: SearchFilters = input
  const text = input.query ?? ''
  const wanted = input.mode ?? 'hybrid'
  const byMeaning = wanted === 'hybrid' || wanted === 'embedding'
  const fallback = byMeaning && text !== '' && !(await catalogue.prepareMeaning(text, context.signal))
  const mode = fallback ? 'bm25' : wanted
  const about = [
    snapshot.version,
    text,
    input.category,
    input.cli,
    input.namespace,
    input.tags,
    input.tagsMatch,
    mode,
    input.minScore,
  ]
  const offset = input.cursor == null ? 0 : readCursor(input.cursor, about)
  const query = {
    query: text,
    mode,
    offset,
    limit: input.limit ?? 10,
    minScore: input.minScore ?? undefined,
    learned: memory.votes(text),
    accept: (tool: { readonly id: string }) => acceptsEntry(snapshot.names.get(tool.id), filters),
  }
  const { candidates, total } =
    text.trim() === '' ? browse(snapshot, query) : rank(context, query, input.explain === true)
  const { results, spentTokens } = fitHits(candidates, input, count)
  memory.noteSearch(
    text,
    results.map((hit) => hit.id),
  )
  const end = offset + results.length
  const more = end < total && results.length > 0 ? { nextCursor: writeCursor(end, about) } : {}
  const explained = input.explainTool == null ? {} : { explained: explainAbsent(input.explainTool, query, context) }
  const facets = input.facets ? { facets: facetsOf(context, query) } : {}
  const note = fallback ? { note: 'The embeddings service did not answer; ranked by words alone.' } : {}
  const omitted = Math.max(total - end, 0)
  return { mode: 'search' as const, results, spentTokens, omitted, ...more, ...facets, ...note, ...explained }
}

type Query = EngineQuery & {
  readonly offset: number
  readonly limit: number
  readonly accept: (tool: { readonly id: string }) => boolean
}

/** The facets of all answers, not only of this page. */
function facetsOf(context: OperationContext, query: Query) {
  const snapshot = context.catalogue.current()
  const whole = { ...query, offset: 0, limit: snapshot.entries.length }
  const { candidates } = query.query.trim() === '' ? browse(snapshot, whole) : rank(context, whole, false)
  const { category, namespace, tag } = countFacets(candidates.map(({ entry }) => entry))
  return { category: [...category], namespace: [...namespace], tag: [...tag] }
}

/** Everything that passes the filters, in the order it was loaded. */
function browse({ entries }: CatalogueSnapshot, { offset, limit, accept }: Query) {
  const all = entries.filter((entry) => accept({ id: toolIdOf(entry) }))
  const page = all.slice(offset, offset + limit)
  const candidates = page.map(
    (entry): Candidate => ({ entry, score: 1, scoreType: 'substring', explanation: undefined }),
  )
  return { candidates, total: all.length }
}

function rank({ catalogue }: OperationContext, query: Query, explain: boolean) {
  const engine = catalogue.engine()
  const { names } = catalogue.current()
  const { hits, total } = engine.search(query)
  const candidates = hits.flatMap(({ tool, score, scoreType }): Candidate[] => {
    const entry = names.get(tool.id)
    const explanation = explain ? engine.explain(tool.id, query) : undefined
    return entry === undefined ? [] : [{ entry, score, scoreType, explanation }]
  })
  return { candidates, total }
}
