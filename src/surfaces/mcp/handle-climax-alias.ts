import type { CallToolResult } from '@modelcontextprotocol/server'
import type * as z from 'zod'
import { searchTools } from '../../operations/search/search-tools.ts'
import { handleClimaxCall, type McpRequest, orToolError } from './handle-call.ts'

type Given = Readonly<Record<string, unknown>>
type SearchAnswer = z.output<typeof searchTools.output>

/** Answers a tool of CLImax: a search in the JSON that its clients parse, a call as `call_tool` answers it. */
export function handleClimaxAlias(name: string, given: Given, request: McpRequest): Promise<CallToolResult> {
  if (name === 'climax_call') return handleClimaxCall(given, request)
  return orToolError(async () => {
    const { query, category, cli, limit } = given
    const input = { query, category, cli, limit: toLimit(limit), level: 'schema' }
    const { client, signal, trace } = request
    const answer = toClimaxAnswer(await client.invoke(searchTools, input, { signal, trace }))
    return { content: [{ type: 'text', text: JSON.stringify(answer) }], structuredContent: answer }
  })
}

/** Ten where no number is given; below nought means none. */
function toLimit(limit: unknown): number {
  const number = limit == null ? Number.NaN : Math.trunc(Number(limit))
  return Number.isNaN(number) ? 10 : Math.min(Math.max(number, 0), 100)
}

function toClimaxAnswer({ mode, summary = [], results = [] }: SearchAnswer): Record<string, unknown> {
  if (mode === 'summary')
    return { mode, summary: summary.map(({ toolCount, ...cli }) => ({ ...cli, tool_count: toolCount })) }
  return {
    mode,
    results: results.map(({ id, name, callAs, description, category, tags, inputSchema }) => ({
      tool_name: callAs ?? name,
      description,
      cli_name: id.includes(':') ? id.slice(0, id.indexOf(':')) : null,
      category: category ?? null,
      tags,
      input_schema: inputSchema,
    })),
  }
}
