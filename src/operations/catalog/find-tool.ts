import { TooldexError } from '../../base/errors.ts'
import { suggest } from '../../base/suggest.ts'
import { toOneLine } from '../../base/visible-text.ts'
import type { Catalog } from '../../catalog/index.ts'
import type { CatalogTool } from '../../contract/catalog.ts'
import { withLatestProtection } from '../../contract/protection.ts'
import type { RegisteredTool } from '../../contract/registry.ts'
import { formatToolId, parseToolId } from '../../contract/tool-id.ts'
import type { OperationContext } from '../operation.ts'
import { viewOf } from '../search/tool-view.ts'
import type { LiveCatalog } from './live-catalog.ts'
import { type FoundTool, idOfRegistered, inVersion, isCallable, type NamedTool, resolveName } from './resolve-name.ts'

/** A tool that is offered by another source than a config, such as the registry. */
export interface RegistryMatch {
  readonly from: 'catalog'
  readonly id: string
  readonly tool: CatalogTool
  /** As the registry has it, where it comes from there. */
  readonly registered?: RegisteredTool | undefined
}

/** The tool of an id, a bare name or a client's short name; the error for an unknown one says what may have been meant. */
export async function findTool(context: OperationContext, idOrName: string): Promise<FoundTool | RegistryMatch> {
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

/** A registered tool as agents are offered it: what is a draft or disabled is not. */
async function toOffered(context: OperationContext, { tool: latest, version }: NamedTool) {
  if (!isCallable(latest)) return undefined
  const id = idOfRegistered(latest)
  const registered = await inVersion(context, latest, version)
  const { tools } = await context.catalog.open()
  const shown = registered === latest ? tools.entries.get(id)?.tool : undefined
  if (shown?.source === 'registry') return { from: 'catalog' as const, id, tool: shown, registered }
  // Loaded for the first who asks, because a server for configs starts without.
  const { showRegistered } = await import('../registry/offered-doc.ts')
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

/** What is no id is no tool; what several tools are called is refused, with their ids. */
function readEntry(tools: Catalog, idOrName: string): CatalogTool | undefined {
  try {
    parseToolId(idOrName)
  } catch {
    return undefined
  }
  return tools.get(idOrName)?.tool
}

/** Whether two names have a word in common; search finds others too, by parts of words that mean nothing here. */
function sharesWord(name: string, known: string): boolean {
  const wordsOf = (text: string) => text.toLowerCase().match(/[a-z\d]{3,}/g) ?? []
  const words = new Set(wordsOf(known))
  return wordsOf(name).some((word) => words.has(word))
}

/** What is hidden is as unknown as what is not there, and nobody is led to it. */
async function unknownTool(
  catalog: LiveCatalog,
  name: string,
  visible: ReadonlySet<string> | undefined,
): Promise<TooldexError> {
  const { tools, index } = await catalog.open()
  const sees = (known: string | undefined) => known !== undefined && (visible?.has(known) ?? true)
  const seen = Array.from(tools.entries.values(), ({ tool }) => tool).filter((tool) => sees(tool.name))
  const names = seen.map((tool) => tool.name)
  const near = suggest(name, names)
  const accept = ({ id }: { readonly id: string }) => sees(tools.entries.get(id)?.tool.name)
  const { hits } = index.engine().search({ query: name, mode: 'bm25', limit: 3, accept })
  const alike = hits.map(({ tool }) => tool.name).filter((known) => sharesWord(name, known))
  // The name itself leads nowhere where it is that of a tool which is not offered.
  const same = seen.filter((tool) => tool.name === name).map(formatToolId)
  const others = [...(near === undefined ? [] : [near]), ...alike].filter((known) => known !== name)
  const meant = [...new Set([...same, ...others])].slice(0, 3)
  const hint = meant.length === 0 ? {} : { hint: `Did you mean ${meant.map((word) => `'${word}'`).join(' or ')}?` }
  const message = `Unknown tool: ${toOneLine(name).slice(0, 200)}.`
  return new TooldexError('TOOL_NOT_FOUND', message, { ...hint, suggestions: meant })
}
