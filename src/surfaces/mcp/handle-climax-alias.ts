import type * as z from 'zod'
import { searchTools } from '../../operations/search/search-tools.ts'
import { type CallResult, handleClimaxCall, type McpRequest, orToolError } from './handle-call.ts'

type Arguments = Readonly<Record<string, unknown>>
type SearchOutput = z.output<typeof searchTools.output>

/** Handles a tool of CLImax: a search returns the JSON that its clients parse, a call the result of `call_tool`. */
export function handleClimaxAlias(name: string, args: Arguments, request: McpRequest): Promise<CallResult> {
  if (name === 'climax_call') return handleClimaxCall(args, request)
  return orToolError(async () => {
    const { query, category, cli, limit } = args
    const input = { query, category, cli, limit: toLimit(limit), level: 'schema' }
    const { client, signal, trace } = request
    const response = toClimaxResponse(await client.invoke(searchTools, input, { signal, trace }))
    return { content: [{ type: 'text', text: JSON.stringify(response) }], structuredContent: response }
  })
}

/** The default is 10; negative numbers count as 0. */
function toLimit(limit: unknown): number {
  const number = limit == null ? Number.NaN : Math.trunc(Number(limit))
  return Number.isNaN(number) ? 10 : Math.min(Math.max(number, 0), 100)
}

function toClimaxResponse({ mode, summary = [], results = [] }: SearchOutput): Record<string, unknown> {
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
