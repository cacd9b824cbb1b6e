import * as z from 'zod'
import { loadTokenCounter } from '../../base/tokens.ts'
import { SearchMode } from '../../contract/search.ts'
import { confidenceWeights } from '../../search/confidence-weights.ts'
import { defineOperation } from '../operation.ts'
import { searchFilters } from '../search/search-filters.ts'
import { prepareQuery } from '../search/search-tools.ts'
import { toolViewOfCaller } from '../search/tool-view.ts'
import { findEvalSetWarnings } from './eval-set.ts'
import { measureQueries } from './run-queries.ts'
import { MacroScores, roundScores, SetScores, summarizeScores } from './set-scores.ts'

const limits = { queries: 200, characters: 1000, relevant: 100 } as const

const AskedQuery = z.object({
  query: z.string().min(1).max(limits.characters).describe('A request in the words of a user.'),
  relevant: z.array(z.string().max(500)).max(limits.relevant).describe('The ids of the relevant tools.'),
})

const firstResults = 5

/** The first results of one query, and why it counts as failed. */
const QueryDetail = z.object({
  query: z.string(),
  results: z.array(z.object({ id: z.string(), name: z.string(), score: z.number() })),
  /** Relevant tools that are not among the first five results. */
  missing: z.array(z.string()),
  /** `abstained`: the verdict was that no tool fits. `not-abstained`: no tool is relevant, but one was found to fit. */
  failure: z.enum(['not-found', 'abstained', 'not-abstained']).optional(),
})
type QueryDetail = z.infer<typeof QueryDetail>

interface EvalHit {
  readonly score: number
  readonly tool: { readonly id: string; readonly name: string }
}

function detailOf(
  { query, relevant }: z.infer<typeof AskedQuery>,
  hits: readonly EvalHit[],
  least: number,
): QueryDetail {
  const results = hits.map(({ score, tool }) => ({
    id: tool.id,
    name: tool.name,
    score: Math.round(score * 1000) / 1000,
  }))
  const missing = relevant.filter((id) => !results.some((hit) => hit.id === id))
  const abstained = (hits[0]?.score ?? 0) < least
  const failure = failureOf({ isServed: relevant.length > 0, abstained, isWhole: missing.length === 0 })
  return { query, results, missing, ...(failure === undefined ? {} : { failure }) }
}

function failureOf(query: { isServed: boolean; abstained: boolean; isWhole: boolean }): QueryDetail['failure'] {
  if (!query.isServed) return query.abstained ? undefined : 'not-abstained'
  return query.isWhole ? (query.abstained ? 'abstained' : undefined) : 'not-found'
}

/** Evaluates search on the current catalog. */
export const evalCatalog = defineOperation({
  name: 'catalog.eval',
  summary: 'Evaluate search on this catalog with queries whose relevant tools are known.',
  scope: 'read',
  needs: ['catalog', 'memory', 'registry?'],
  http: { method: 'post', path: '/eval', tag: 'catalog' },
  input: z.object({
    queries: z.array(AskedQuery).min(1).max(limits.queries),
    mode: SearchMode.nullish(),
    ...searchFilters,
    minScore: z.number().min(0).max(1).nullish().describe('Omits results with a lower score.'),
    minFit: z
      .number()
      .min(0)
      .max(1)
      .nullish()
      .describe('A search whose first score is lower counts as without a fitting tool; default: as search does.'),
    limit: z
      .int()
      .min(1)
      .max(100)
      .default(10)
      .describe('Maximum number of results; below 10, the scores at 10 are lower.'),
    details: z.boolean().nullish().describe('Whether to return the results of each query.'),
  }),
  output: z.object({
    sets: z.array(SetScores),
    macro: MacroScores,
    warnings: z.array(z.string()),
    details: z.array(QueryDetail).optional(),
  }),
  async handle({ queries, mode, limit, minScore, minFit, details, ...filters }, context) {
    const tools = await context.catalog.open()
    const view = await toolViewOfCaller(context)
    const seen = tools.list().filter((found) => view?.shows(found) ?? true)
    const set = { name: 'catalog', tools: seen, queries: queries.map((each, at) => ({ id: String(at), ...each })) }
    const least = minFit ?? confidenceWeights.weak
    const notes = new Set<string>()
    const answers: EvalHit[][] = []
    const runQuery = async (query: string) => {
      const { question, note } = await prepareQuery({ query, mode, limit, minScore, ...filters }, context)
      if (note !== undefined) notes.add(note)
      const hits = tools
        .search(question)
        .hits.map(({ id, tool, score }) => ({ score, tool: { id, name: tool.name, description: tool.description } }))
      answers.push(hits.slice(0, firstResults))
      return hits
    }
    const { signal } = context
    const countTokens = await loadTokenCounter()
    const scores = summarizeScores(
      set,
      await measureQueries(set.queries, { runQuery: runQuery, countTokens, signal, onQuery: () => {} }),
      least,
    )
    const { set: _set, tools: _tools, queries: _queries, ...macro } = roundScores(scores)
    return {
      sets: [roundScores(scores)],
      macro,
      warnings: [...findEvalSetWarnings(set), ...notes],
      ...(details ? { details: queries.map((each, at) => detailOf(each, answers[at] ?? [], least)) } : {}),
    }
  },
})

const ToolLine = z.object({
  id: z.string(),
  name: z.string(),
  namespace: z.string(),
  description: z.string(),
  category: z.string().nullable(),
  tags: z.array(z.string()),
  input_schema: z.record(z.string(), z.unknown()),
})
const QueryLine = z.object({ id: z.string(), query: z.string(), relevant: z.array(z.string()) })

/** Builds an evaluation set from recorded calls. */
export const mineGoldenSet = defineOperation({
  name: 'search.mine',
  summary: 'Build an evaluation set from recorded calls: the queries, and the tools that were called.',
  scope: 'read',
  needs: ['catalog', 'memory'],
  input: z.object({}),
  output: z.object({ tools: z.array(ToolLine), queries: z.array(QueryLine) }),
  async handle(_, { catalog, memory }) {
    const offered = new Map(
      (await catalog.open()).list().flatMap(({ id, tool }) => (tool.source === 'cli' ? [[id, tool]] : [])),
    )
    const relevant = new Map<string, Set<string>>()
    for (const { query, toolIds } of await memory.experiences()) {
      const known = toolIds.filter((id) => offered.has(id))
      if (known.length > 0) relevant.set(query, new Set([...(relevant.get(query) ?? []), ...known]))
    }
    const queries = Array.from(relevant, ([query, ids], index) => ({
      id: `mined-${index + 1}`,
      query,
      relevant: [...ids],
    }))
    const tools = Array.from(offered, ([id, tool]) => {
      const { name, namespace = '', description, category = null, tags, inputSchema } = tool
      return { id, name, namespace, description, category, tags, input_schema: inputSchema }
    })
    return { tools, queries }
  },
})
