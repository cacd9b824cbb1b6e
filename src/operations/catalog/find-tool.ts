import { TooldexError } from '../../base/errors.ts'
import { toOneLine } from '../../base/invisible-characters.ts'
import { lazyModule } from '../../base/lazy-module.ts'
import { suggest } from '../../base/suggest.ts'
import { yieldTurns } from '../../base/yield-turns.ts'
import type { SyncedTool } from '../../catalog/index.ts'
import type { RegisteredTool } from '../../contract/registry.ts'
import { withLatestProtection } from '../../rules/protection.ts'
import { formatToolId } from '../../rules/tool-id.ts'
import type { ToolContext } from '../operation.ts'
import { type ToolView, toolViewOfCaller } from '../search/tool-view.ts'
import type { LiveCatalog } from './live-catalog.ts'
import { isCallable, type NamedTool, resolveName, toolInVersion } from './resolve-name.ts'

const loadOfferedDoc = lazyModule(() => import('../registry/offered-doc.ts'))

/** A tool that the caller may see, in catalog form. */
export interface FoundTool extends SyncedTool {
  readonly id: string
  /** The stored form of a tool of the registry. */
  readonly registered?: RegisteredTool | undefined
}

/** The tool of a name that the caller may see; the error for an unknown one has suggestions. */
export async function findTool(context: ToolContext, idOrName: string): Promise<FoundTool> {
  const view = await toolViewOfCaller(context)
  const found = await resolveName(context, idOrName)
  const offered = found?.registered === undefined ? found : await toOffered(context, found)
  if (offered !== undefined && (view?.shows(offered) ?? true)) return offered
  throw await unknownTool(context.catalog, idOrName, view)
}

/** A registered tool in the form offered to agents; drafts and disabled tools are not offered. */
async function toOffered(context: ToolContext, named: NamedTool): Promise<FoundTool | undefined> {
  const { id, registered: latest, version } = named
  if (!isCallable(latest)) return undefined
  const registered = await toolInVersion(context, latest, version)
  const tools = await context.catalog.open()
  const offered = registered === latest ? tools.find(id, ({ tool }) => tool.source === 'registry') : undefined
  if (offered?.id === id) return { ...offered, registered }
  // Loaded on first use, because a server for configs starts without it.
  const { findToolForm } = await loadOfferedDoc()
  return { id, ...(await findToolForm(context, withLatestProtection(registered, latest))), registered }
}

/** Whether two names have a word in common; search also matches parts of words, which are no basis for a suggestion. */
function sharesWord(name: string, candidate: string): boolean {
  const wordsOf = (text: string) => text.toLowerCase().match(/[a-z\d]{3,}/g) ?? []
  const words = new Set(wordsOf(candidate))
  return wordsOf(name).some((word) => words.has(word))
}

/** The error for an unknown or hidden tool: the two cannot be distinguished, and hidden tools are never suggested. */
async function unknownTool(catalog: LiveCatalog, name: string, view: ToolView | undefined): Promise<TooldexError> {
  const tools = await catalog.open()
  // A request may name many tools, and each unknown name is compared with all tools.
  await yieldTurns()()
  const shown = tools.list().filter((found) => view?.shows(found) ?? true)
  const seen = shown.map(({ tool }) => tool)
  const ids = new Set(shown.map(({ id }) => id))
  const names = seen.map((tool) => tool.name)
  const near = suggest(name, names)
  const accept = ({ id }: { readonly id: string }) => ids.has(id)
  await catalog.indexInTurns()
  await yieldTurns()()
  const { hits } = (await catalog.engine()).search({ query: name, mode: 'bm25', limit: 3, accept })
  const alike = hits.map(({ tool }) => tool.name).filter((candidate) => sharesWord(name, candidate))
  // The same name is no suggestion if its tool is not offered.
  const same = seen.filter((tool) => tool.name === name).map(formatToolId)
  const others = [...(near === undefined ? [] : [near]), ...alike].filter((candidate) => candidate !== name)
  const meant = [...new Set([...same, ...others])].slice(0, 3)
  const hint = meant.length === 0 ? {} : { hint: `Did you mean ${meant.map((word) => `'${word}'`).join(' or ')}?` }
  const message = `Unknown tool: ${toOneLine(name).slice(0, 200)}.`
  return new TooldexError('TOOL_NOT_FOUND', message, { ...hint, suggestions: meant })
}
