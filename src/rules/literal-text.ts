import type { SearchableTool } from '../contract/search.ts'

interface Described extends Pick<SearchableTool, 'name' | 'namespace' | 'description' | 'category' | 'tags'> {
  readonly summary?: string | undefined
  readonly inputModes?: readonly string[] | undefined
  readonly outputModes?: readonly string[] | undefined
}

/** The text in which a literal query is matched: all descriptive fields of a tool, in lower case. */
export function literalText(tool: Described): string {
  const { name, namespace, description, category, inputModes = [], outputModes = [], tags = [] } = tool
  const summary = tool.summary === description ? undefined : tool.summary
  const parts = [name, namespace, description, summary, category, ...inputModes, ...outputModes, ...tags]
  return parts.filter(Boolean).join(' ').toLowerCase()
}
