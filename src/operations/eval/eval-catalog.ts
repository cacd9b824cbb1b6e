import * as z from 'zod'
import { loadTokenCounter } from '../../base/tokens.ts'
import { SearchMode } from '../../contract/search.ts'
import { defineOperation } from '../operation.ts'
import { toQuestion } from '../search/search-tools.ts'
import { viewOf } from '../search/tool-view.ts'
import { findOddities } from './eval-set.ts'
import { measureQueries } from './measure-queries.ts'
import { MacroScores, roundScores, SetScores, summarize } from './set-scores.ts'

const limits = { queries: 200, characters: 1000, relevant: 100 } as const

const AskedQuery = z.object({
  query: z.string().min(1).max(limits.characters).describe('A request in the words of a user.'),
  relevant: z.array(z.string().max(500)).max(limits.relevant).describe('The ids of the relevant tools.'),
})

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
    limit: z
      .int()
      .min(1)
      .max(100)
      .default(10)
      .describe('Maximum number of results; below 10, the scores at 10 are lower.'),
  }),
  output: z.object({ sets: z.array(SetScores), macro: MacroScores, warnings: z.array(z.string()) }),
  async handle({ queries, mode, limit }, context) {
    const tools = await context.catalog.open()
    const view = await viewOf(context)
    const seen = tools.list().filter((found) => view?.shows(found) ?? true)
    const set = { name: 'catalog', tools: seen, queries: queries.map((each, at) => ({ id: String(at), ...each })) }
    const notes = new Set<string>()
    const runQuery = async (query: string) => {
      const { question, note } = await toQuestion({ query, mode, limit }, context)
      if (note !== undefined) notes.add(note)
      return tools
        .search(question)
        .hits.map(({ id, tool, score }) => ({ score, tool: { id, name: tool.name, description: tool.description } }))
    }
    const { signal } = context
    const countTokens = await loadTokenCounter()
    const scores = summarize(
      set,
      await measureQueries(set.queries, { runQuery: runQuery, countTokens, signal, onQuery: () => {} }),
    )
    const { set: _set, tools: _tools, queries: _queries, ...macro } = roundScores(scores)
    return { sets: [roundScores(scores)], macro, warnings: [...findOddities(set), ...notes] }
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
