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

/** Whether a name is one of the two tools of CLImax, which can be called even if they are not listed. */
export const isClimaxAlias = (name: string): boolean => Object.hasOwn(definitions, name)

/** The pinned aliases as MCP tools; the others are not listed, so they cost no tokens. */
export const climaxAliases = (pinned: readonly string[]): readonly Tool[] =>
  Object.entries(definitions)
    .filter(([name]) => pinned.includes(name))
    .map(([name, definition]) => ({ name, ...definition }))
