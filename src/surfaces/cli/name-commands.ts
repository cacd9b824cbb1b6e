const commands: Readonly<Record<string, string>> = {
  search_tools: 'tooldex search',
  describe_tool: 'tooldex describe',
  call_tool: 'tooldex call',
}

/** A hint for whoever sits at a terminal: the tools of an MCP client go by the names of their commands. */
export function nameCommands(hint: string): string {
  return hint.replace(/\b(?:search_tools|describe_tool|call_tool)\b/g, (name) => commands[name] ?? name)
}
