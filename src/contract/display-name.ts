/** `git_status` as `Git status`. */
export function toDisplayName(name: string): string {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/[_.\-\s]+/g, ' ')
    .trim()
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** A tool whose display name is derived from its name where it has none. */
export function withDisplayName<Tool extends { name: string; displayName: string }>(tool: Tool): Tool {
  return tool.displayName === '' ? { ...tool, displayName: toDisplayName(tool.name) || tool.name } : tool
}
