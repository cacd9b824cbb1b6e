import * as z from 'zod'
import { loadTokenCounter, type TokenCounter } from '../../base/tokens.ts'
import { yieldTurns } from '../../base/yield-turns.ts'
import type { Catalog, CatalogHit, Match, SearchPageQuery } from '../../catalog/index.ts'
import { readinessOnServer } from '../../contract/catalog.ts'
import { Explanation, Fit, SearchMode } from '../../contract/search.ts'
import { CliSummary } from '../../contract/tool-index.ts'
import { firstWords } from '../../search/index.ts'
import { defineOperation, type OperationContext, queryLimits } from '../operation.ts'
import { readSignIns } from '../sources/require-sign-in.ts'
import { explainAbsent } from './explain-absent.ts'
import { countFacets, Facets } from './facets.ts'
import { categoriesOf, searchFilters, toCatalogFilters, withSubcategories } from './search-filters.ts'
import { fitHitsToBudget, SearchHit, SearchLevel } from './search-hits.ts'
import { type ToolView, toolViewOfCaller } from './tool-view.ts'
import { maxNearest, verdictOf } from './verdict.ts'

// More than any catalog has.
const maxOffset = 10_000_000

const Input = z.object({
  query: z.string().nullish(),
  ...searchFilters,
  /** The level of detail; if absent, the richest that fits the budget. */
  level: SearchLevel.nullish(),
  limit: z.int().min(0).max(100).nullish(),
  cursor: z.string().nullish(),
  /** The number of results to skip, for a list that shows any part of them; not together with a cursor. */
  offset: z.int().min(0).max(maxOffset).nullish(),
  budgetTokens: z.int().min(1).nullish(),
  mode: SearchMode.nullish(),
  minScore: z.number().min(0).max(1).nullish(),
  /** Whether to count the values of every filter among all results. */
  facets: z.boolean().nullish(),
  /** Whether to explain the rank of each result. */
  explain: z.boolean().nullish(),
  /** Whether to count the tokens of the definition of each result. */
  countTokens: z.boolean().nullish(),
  /** A tool whose presence or absence in the results is explained. */
  explainTool: z.string().nullish(),
})
type Input = z.infer<typeof Input>

/** Searches tools. */
export const searchTools = defineOperation({
  name: 'tools.search',
  summary: 'Search tools by what they do; without a query or filter, return an overview of the catalog.',
  scope: 'read',
  needs: ['catalog', 'memory', 'registry?', 'sources?'],
  http: { method: 'post', path: '/search', tag: 'search', body: queryLimits },
  input: Input,
  output: z.object({
    mode: z.enum(['search', 'summary']),
    results: z.array(SearchHit).optional(),
    summary: z.array(CliSummary).optional(),
    nextCursor: z.string().optional(),
    spentTokens: z.int(),
    omitted: z.int(),
    facets: Facets.optional(),
    /** Whether a tool here does this; absent without a query. For `none` at most three nearest tools are listed. */
    fit: Fit.optional(),
    /** The next steps if no tool fits. */
    advice: z.string().optional(),
    /** Present if the results are degraded. */
    note: z.string().optional(),
    explained: z.object({ tool: z.string(), reason: z.string(), explanation: Explanation.optional() }).optional(),
  }),
  handle: (input, context) => (isUnfiltered(input) ? overview(input, context) : search(input, context)),
})

/** The same search as a GET request. */
export const searchByAddress = defineOperation({
  ...searchTools,
  name: 'tools.searchByAddress',
  summary: 'Search tools by what they do, with the query in the URL.',
  http: { method: 'get', path: '/search', tag: 'search' },
})

const narrowing = [
  'query',
  'category',
  'cli',
  'namespace',
  'tags',
  'source',
  'status',
  'executor',
  'readiness',
] as const

const isUnfiltered = (input: Input): boolean => narrowing.every((key) => input[key] == null) && !input.facets

async function overview({ limit }: Input, context: OperationContext<'catalog' | 'memory' | 'registry?'>) {
  const { catalog } = context
  const count = await loadTokenCounter()
  const view = await toolViewOfCaller(context)
  const tools = await catalog.open()
  const configs = summarizeConfigs(catalog.current().index.summary(), tools, view)
  const all = [...configs, ...summarizeRegistered(tools, view), ...summarizeProgram(tools, view)]
  const summary = all.slice(0, limit ?? all.length)
  return withSpentTokens(count, { mode: 'summary' as const, summary, omitted: all.length - summary.length })
}

/** The answer with the tokens of all of it. */
export function withSpentTokens<Answer extends object>(count: TokenCounter, answer: Answer) {
  return { ...answer, spentTokens: count(JSON.stringify(answer)) }
}

/** Counts only visible tools; a config without any is not listed. */
function summarizeConfigs(summaries: readonly CliSummary[], tools: Catalog, view: ToolView | undefined) {
  if (view === undefined) return summaries
  const seen = tools.list().filter((found) => found.tool.source === 'cli' && view.shows(found))
  const countOf = (config: string) => seen.filter(({ tool }) => tool.namespace === config).length
  const counted = summaries.map((config) => ({ ...config, toolCount: countOf(config.name) }))
  return counted.filter(({ toolCount }) => toolCount > 0)
}

/** Registered tools belong to no config, so they have a line of their own. */
function summarizeRegistered(tools: Catalog, view: ToolView | undefined): readonly CliSummary[] {
  const registered = tools.list().filter((found) => found.tool.source === 'registry' && (view?.shows(found) ?? true))
  if (registered.length === 0) return []
  const description = 'Registered tools; filter by source "registry".'
  return [{ name: 'registry', description, toolCount: registered.length, category: null, tags: [] }]
}

/** The tools that a program adds itself, by namespace: functions, and those of MCP servers. */
function summarizeProgram(tools: Catalog, view: ToolView | undefined): readonly CliSummary[] {
  const counts = new Map<string, { readonly source: string; toolCount: number }>()
  for (const found of tools.list()) {
    const { source = 'code', namespace = '' } = found.tool
    if ((source !== 'code' && source !== 'mcp') || view?.shows(found) === false) continue
    const before = counts.get(namespace)?.toolCount ?? 0
    counts.set(namespace, { source, toolCount: before + 1 })
  }
  return Array.from(counts, ([name, { source, toolCount }]) => {
    const description = source === 'code' ? 'Functions of this program.' : 'Tools of an MCP server.'
    return { name, description, toolCount, category: null, tags: [] }
  })
}

/** The tokens of definitions that were counted; the definition of a changed tool is another object. */
const known = new WeakMap<CatalogHit['tool'], number>()

/** The tokens that a definition takes where a client lists the tool. */
async function withTokens(
  results: readonly SearchHit[],
  hits: readonly CatalogHit[],
  { count, signal }: { readonly count: TokenCounter; readonly signal: AbortSignal | undefined },
): Promise<SearchHit[]> {
  const tools = new Map(hits.map(({ id, tool }) => [id, tool]))
  const turn = yieldTurns(signal)
  const counted: SearchHit[] = []
  for (const hit of results) {
    const tool = tools.get(hit.id)
    counted.push(tool === undefined ? hit : { ...hit, tokens: tokensOf(tool, count) })
    await turn()
  }
  return counted
}

function tokensOf(tool: CatalogHit['tool'], count: TokenCounter): number {
  const { name, description, inputSchema } = tool
  const tokens = known.get(tool) ?? count(JSON.stringify({ name, description, inputSchema }))
  known.set(tool, tokens)
  return tokens
}

async function search(input: Input, context: OperationContext<'catalog' | 'memory' | 'registry?' | 'sources?'>) {
  const count = await loadTokenCounter()
  const { catalog, memory, caller } = context
  const tools = await catalog.open()
  const { question, note } = await prepareQuery(input, context)
  // Each step ranks all tools.
  const turn = yieldTurns(context.signal, 0)
  const matches: Match[] = []
  const page = tools.search(input.facets ? { ...question, onMatch: (match) => matches.push(match) } : question)
  const explains = input.explain && question.query.trim() !== ''
  const candidates = []
  const shown = page.fit === 'none' ? page.hits.slice(0, maxNearest) : page.hits
  const signedIn = await readSignIns(context, shown)
  for (let at = 0; at < shown.length; at += explainedAtOnce) {
    const hits = shown.slice(at, at + explainedAtOnce)
    const ids = hits.map(({ id }) => id)
    if (explains) await turn()
    const explanations = explains ? [...(await catalog.engine()).explainAll(ids, question)] : []
    for (const [index, hit] of hits.entries()) {
      const [sharesName, isolation] = [tools.sharesName(hit.tool), catalog.isolationOf(hit)]
      const readiness = readinessOnServer(signedIn(hit, hit.readiness), context.origin)
      candidates.push({ ...hit, readiness, explanation: explanations[index], sharesName, isolation })
    }
  }
  const counted = input.facets && input.minScore ? withMinScore(matches, question, tools) : matches
  const facets = input.facets ? await countFacets(counted, await categoriesOf(context), context.signal) : undefined
  await turn()
  const fitting = (await fitHitsToBudget(candidates, input, { count, signal: context.signal })).results
  const results = input.countTokens ? await withTokens(fitting, page.hits, { count, signal: context.signal }) : fitting
  memory.noteSearch(
    caller,
    question.query,
    results.map((hit) => hit.id),
  )
  const nextCursor = results.length === 0 ? undefined : page.cursorAfter(results.length)
  const omitted = Math.max(page.total - page.offset - results.length, 0)
  return withSpentTokens(count, {
    mode: 'search' as const,
    results,
    omitted,
    ...(nextCursor === undefined ? {} : { nextCursor }),
    ...verdictOf(page.fit),
    ...(facets === undefined ? {} : { facets }),
    ...(note === undefined ? {} : { note }),
    ...(input.explainTool == null ? {} : { explained: await explainAbsent(input.explainTool, question, context) }),
  })
}

// The query is ranked once for this many hits; other requests get their turns in between.
const explainedAtOnce = 10

/** A complete query: text, mode and filters. */
export type Question = SearchPageQuery & { readonly query: string; readonly view?: ToolView | undefined }

/** The query with the visibility and the learned boosts of the caller. */
export async function prepareQuery(input: Input, context: OperationContext<'catalog' | 'memory' | 'registry?'>) {
  const { catalog, memory, signal } = context
  const mode = input.mode ?? 'hybrid'
  const text = input.query ?? ''
  const query = mode === 'substring' ? text : firstWords(text)
  const byMeaning = mode === 'hybrid' || mode === 'embedding'
  const [learned, filters] = [await memory.votes(query), await withSubcategories(toCatalogFilters(input), context)]
  const view = await toolViewOfCaller(context)
  const fallback = byMeaning && query !== '' && !(await catalog.prepareMeaning(query, signal))
  // Last, so that the search finds few changes that came meanwhile.
  await catalog.indexInTurns(query === '' ? undefined : fallback ? 'bm25' : mode, signal)
  const question: Question = {
    query,
    mode: fallback ? 'bm25' : mode,
    limit: input.limit ?? 10,
    cursor: input.cursor ?? undefined,
    ...(input.offset == null ? {} : { offset: input.offset }),
    minScore: input.minScore ?? undefined,
    learned,
    filters,
    view,
  }
  return { question, note: fallback ? 'The embeddings service did not respond; ranked by words only.' : undefined }
}

/** The matches with the minimum score, which are known once all are scored. */
function withMinScore(matches: readonly Match[], { offset: _offset, ...question }: Question, tools: Catalog) {
  const { hits } = tools.search({ ...question, cursor: undefined, limit: tools.size })
  const scored = new Set(hits.map(({ tool }) => tool))
  return matches.filter(({ tool }) => scored.has(tool))
}
