import * as z from 'zod'
import { defineOperation } from '../operation.ts'

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
