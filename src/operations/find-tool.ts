import { TooldexError } from '../base/errors.ts'
import { suggest } from '../base/suggest.ts'
import { toOneLine } from '../base/visible-text.ts'
import type { Catalog } from '../catalog/index.ts'
import type { CatalogTool } from '../contract/catalog.ts'
import { formatToolId, parseToolId } from '../contract/tool-id.ts'
import type { ResolvedTool, ToolIndexEntry } from '../contract/tool-index.ts'
import type { LiveCatalogue } from './live-catalogue.ts'
import type { OperationContext } from './operation.ts'
import { viewOf } from './tool-view.ts'

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
export async function findTool(context: OperationContext, idOrName: string): Promise<FoundTool | OfferedTool> {
  const { catalogue } = context
  const names = (await viewOf(context))?.names
  const snapshot = catalogue.current()
  const entry = snapshot.names.get(idOrName)
  const resolved = entry === undefined ? null : snapshot.index.get(entry.toolName)
  if (entry !== undefined && resolved !== null) {
    if (names?.has(entry.toolName) ?? true) return { from: 'config', entry, resolved }
    throw await unknownTool(catalogue, idOrName, names)
  }
  const { tools } = await catalogue.open()
  const tool = tools.entries.get(idOrName)?.tool ?? readEntry(tools, idOrName)
  if (tool !== undefined && (names?.has(tool.name) ?? true)) return { from: 'catalogue', id: formatToolId(tool), tool }
  throw await unknownTool(catalogue, idOrName, names)
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

/** What is hidden is as unknown as what is not there, and nobody is led to it. */
async function unknownTool(
  catalogue: LiveCatalogue,
  name: string,
  visible: ReadonlySet<string> | undefined,
): Promise<TooldexError> {
  const { tools, index } = await catalogue.open()
  const sees = (known: string | undefined) => known !== undefined && (visible?.has(known) ?? true)
  const names = Array.from(tools.entries.values(), ({ tool }) => tool.name).filter(sees)
  const near = suggest(name, names)
  const accept = ({ id }: { readonly id: string }) => sees(tools.entries.get(id)?.tool.name)
  const { hits } = index.engine().search({ query: name, mode: 'bm25', limit: 3, accept })
  const alike = hits.map(({ tool }) => tool.name)
  const meant = [...new Set([...(near === undefined ? [] : [near]), ...alike])].slice(0, 3)
  const hint = meant.length === 0 ? {} : { hint: `Did you mean ${meant.map((word) => `'${word}'`).join(' or ')}?` }
  return new TooldexError('TOOL_NOT_FOUND', `Unknown tool: ${toOneLine(name).slice(0, 200)}.`, hint)
}
