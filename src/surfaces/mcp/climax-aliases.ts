import type { CallToolResult, Tool } from '@modelcontextprotocol/server'
import type * as z from 'zod'
import { searchTools } from '../../operations/search-tools.ts'
import { handleMetaTool, type McpRequest, orToolError } from './handle-call.ts'

type Given = Readonly<Record<string, unknown>>
type SearchAnswer = z.output<typeof searchTools.output>

const text = { type: 'string' } as const
const definitions: Readonly<Record<string, Omit<Tool, 'name'>>> = {
  climax_search: {
    description: 'Find tools by what they do, as search_tools does. Without arguments: an overview.',
    inputSchema: {
      type: 'object',
      properties: { query: text, category: text, cli: text, limit: { type: 'integer' } },
    },
    annotations: { readOnlyHint: true },
  },
  climax_call: {
    description: 'Call a tool by name, as call_tool does.',
    inputSchema: {
      type: 'object',
      properties: { tool_name: text, args: { type: 'object' } },
      required: ['tool_name'],
    },
  },
}

/** Whether a name is one of the two tools of CLImax, which are answered whether they are listed or not. */
export const isClimaxAlias = (name: string): boolean => Object.hasOwn(definitions, name)

/** The aliases that are pinned, as MCP lists them; the others cost a client nothing. */
export const climaxAliases = (pinned: readonly string[]): readonly Tool[] =>
  Object.entries(definitions)
    .filter(([name]) => pinned.includes(name))
    .map(([name, definition]) => ({ name, ...definition }))

/** Answers a tool of CLImax: a search in the JSON that its clients parse, a call as `call_tool` answers it. */
export function handleClimaxAlias(name: string, given: Given, request: McpRequest): Promise<CallToolResult> {
  if (name === 'climax_call') return handleMetaTool('call_tool', given, request)
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
