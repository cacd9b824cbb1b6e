import type { Tool } from '@modelcontextprotocol/server'

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
