import { TooldexError } from '../base/errors.ts'
import { suggest } from '../base/suggest.ts'
import { toOneLine } from '../base/visible-text.ts'
import type { ResolvedTool, ToolIndexEntry } from '../contract/tool-index.ts'
import type { LiveCatalogue } from './live-catalogue.ts'

/** A tool as found and as run. */
export interface FoundTool {
  readonly entry: ToolIndexEntry
  readonly resolved: ResolvedTool
}

/** The tool of an id, a bare name or a client's short name; the error for an unknown one says what may have been meant. */
export async function findTool(catalogue: LiveCatalogue, idOrName: string): Promise<FoundTool> {
  const snapshot = catalogue.current()
  const entry = snapshot.names.get(idOrName)
  const resolved = entry === undefined ? null : snapshot.index.get(entry.toolName)
  if (entry !== undefined && resolved !== null) return { entry, resolved }
  throw await unknownTool(catalogue, idOrName)
}

async function unknownTool(catalogue: LiveCatalogue, name: string): Promise<TooldexError> {
  const { tools, index } = await catalogue.open()
  const names = Array.from(tools.entries.values(), ({ tool }) => tool.name)
  const near = suggest(name, names)
  const { hits } = index.engine().search({ query: name, mode: 'bm25', limit: 3 })
  const alike = hits.map(({ tool }) => tool.name)
  const meant = [...new Set([...(near === undefined ? [] : [near]), ...alike])].slice(0, 3)
  const hint = meant.length === 0 ? {} : { hint: `Did you mean ${meant.map((word) => `'${word}'`).join(' or ')}?` }
  return new TooldexError('TOOL_NOT_FOUND', `Unknown tool: ${toOneLine(name).slice(0, 200)}.`, hint)
}
