import { TooldexError } from '../../base/errors.ts'
import { lazyModule } from '../../base/lazy-module.ts'
import { suggest } from '../../base/suggest.ts'
import { toOneLine } from '../../base/visible-text.ts'
import type { Catalog } from '../../catalog/index.ts'
import type { CatalogTool } from '../../contract/catalog.ts'
import type { RegisteredTool } from '../../contract/registry.ts'
import { withLatestProtection } from '../../rules/protection.ts'
import { formatToolId, parseToolId } from '../../rules/tool-id.ts'
import type { ToolContext } from '../operation.ts'
import { viewOf } from '../search/tool-view.ts'
import type { LiveCatalog } from './live-catalog.ts'
import { type FoundTool, idOfRegistered, inVersion, isCallable, type NamedTool, resolveName } from './resolve-name.ts'

const loadOfferedDoc = lazyModule(() => import('../registry/offered-doc.ts'))

/** A tool of another source than a config, such as the registry. */
export interface RegistryMatch {
  readonly from: 'catalog'
  readonly id: string
  readonly tool: CatalogTool
  /** The stored form of a tool of the registry. */
  readonly registered?: RegisteredTool | undefined
}

/** The tool of an id, a bare name or a client's short name; the error for an unknown one has suggestions. */
export async function findTool(context: ToolContext, idOrName: string): Promise<FoundTool | RegistryMatch> {
  const { catalog } = context
  const names = (await viewOf(context))?.names
  const found = await resolveName(context, idOrName)
  if (found?.from === 'config') {
    if (names?.has(found.entry.toolName) ?? true) return found
    throw await unknownTool(catalog, idOrName, names)
  }
  const offered = found === undefined ? await findElsewhere(catalog, idOrName) : await toOffered(context, found)
  if (offered !== undefined && (names?.has(offered.tool.name) ?? true)) return offered
  throw await unknownTool(catalog, idOrName, names)
}

/** A registered tool in the form offered to agents; drafts and disabled tools are not offered. */
async function toOffered(context: ToolContext, { tool: latest, version }: NamedTool) {
  if (!isCallable(latest)) return undefined
  const id = idOfRegistered(latest)
  const registered = await inVersion(context, latest, version)
  const { tools } = await context.catalog.open()
  const offered = registered === latest ? tools.entries.get(id)?.tool : undefined
  if (offered?.source === 'registry') return { from: 'catalog' as const, id, tool: offered, registered }
  // Loaded on first use, because a server for configs starts without it.
  const { showRegistered } = await loadOfferedDoc()
  return {
    from: 'catalog' as const,
    id,
    tool: await showRegistered(context, withLatestProtection(registered, latest)),
    registered,
  }
}

async function findElsewhere(catalog: LiveCatalog, idOrName: string): Promise<RegistryMatch | undefined> {
  const { tools } = await catalog.open()
  const tool = tools.entries.get(idOrName)?.tool ?? readEntry(tools, idOrName)
  return tool === undefined ? undefined : { from: 'catalog', id: formatToolId(tool), tool }
}

/** An invalid id matches no tool; an ambiguous name is rejected with the ids of its tools. */
function readEntry(tools: Catalog, idOrName: string): CatalogTool | undefined {
  try {
    parseToolId(idOrName)
  } catch {
    return undefined
  }
  return tools.get(idOrName)?.tool
}

/** Whether two names have a word in common; search also matches parts of words, which are no basis for a suggestion. */
function sharesWord(name: string, candidate: string): boolean {
  const wordsOf = (text: string) => text.toLowerCase().match(/[a-z\d]{3,}/g) ?? []
  const words = new Set(wordsOf(candidate))
  return wordsOf(name).some((word) => words.has(word))
}

/** The error for an unknown or hidden tool: the two cannot be distinguished, and hidden tools are never suggested. */
async function unknownTool(
  catalog: LiveCatalog,
  name: string,
  visible: ReadonlySet<string> | undefined,
): Promise<TooldexError> {
  const { tools, index } = await catalog.open()
  const sees = (toolName: string | undefined) => toolName !== undefined && (visible?.has(toolName) ?? true)
  const seen = Array.from(tools.entries.values(), ({ tool }) => tool).filter((tool) => sees(tool.name))
  const names = seen.map((tool) => tool.name)
  const near = suggest(name, names)
  const accept = ({ id }: { readonly id: string }) => sees(tools.entries.get(id)?.tool.name)
  await index.followInTurns()
  const { hits } = index.engine().search({ query: name, mode: 'bm25', limit: 3, accept })
  const alike = hits.map(({ tool }) => tool.name).filter((candidate) => sharesWord(name, candidate))
  // The same name is no suggestion if its tool is not offered.
  const same = seen.filter((tool) => tool.name === name).map(formatToolId)
  const others = [...(near === undefined ? [] : [near]), ...alike].filter((candidate) => candidate !== name)
  const meant = [...new Set([...same, ...others])].slice(0, 3)
  const hint = meant.length === 0 ? {} : { hint: `Did you mean ${meant.map((word) => `'${word}'`).join(' or ')}?` }
  const message = `Unknown tool: ${toOneLine(name).slice(0, 200)}.`
  return new TooldexError('TOOL_NOT_FOUND', message, { ...hint, suggestions: meant })
}
