import { TooldexError } from '../base/errors.ts'
import { suggest } from '../base/suggest.ts'
import { toOneLine } from '../base/visible-text.ts'
import type { Catalog } from '../catalog/index.ts'
import type { CatalogTool } from '../contract/catalog.ts'
import { formatToolId, parseToolId } from '../contract/tool-id.ts'
import type { ResolvedTool, ToolIndexEntry } from '../contract/tool-index.ts'
import type { LiveCatalogue } from './live-catalogue.ts'

/** A tool of a config, as found and as run. */
export interface FoundTool {
  readonly from: 'config'
  readonly entry: ToolIndexEntry
  readonly resolved: ResolvedTool
}

/** A tool that is offered by another source than a config, such as the registry. */
export interface OfferedTool {
  readonly from: 'catalogue'
  readonly id: string
  readonly tool: CatalogTool
}

/** The tool of an id, a bare name or a client's short name; the error for an unknown one says what may have been meant. */
export async function findTool(catalogue: LiveCatalogue, idOrName: string): Promise<FoundTool | OfferedTool> {
  const snapshot = catalogue.current()
  const entry = snapshot.names.get(idOrName)
  const resolved = entry === undefined ? null : snapshot.index.get(entry.toolName)
  if (entry !== undefined && resolved !== null) return { from: 'config', entry, resolved }
  const { tools } = await catalogue.open()
  const tool = tools.entries.get(idOrName)?.tool ?? readEntry(tools, idOrName)
  if (tool !== undefined) return { from: 'catalogue', id: formatToolId(tool), tool }
  throw await unknownTool(catalogue, idOrName)
}

/** What is no id is no tool; what several tools are called is refused, with their ids. */
function readEntry(tools: Catalog, idOrName: string): CatalogTool | undefined {
  try {
    parseToolId(idOrName)
  } catch {
    return undefined
  }
  return tools.get(idOrName)?.tool
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
