import { TooldexError } from '../../base/errors.ts'
import { lazyModule } from '../../base/lazy-module.ts'
import { yieldTurns } from '../../base/yield-turns.ts'
import type { Catalog, FoundEntry } from '../../catalog/index.ts'
import type { CatalogTool } from '../../contract/catalog.ts'
import type { RegisteredTool } from '../../contract/registry.ts'
import { ambiguousName, formatToolId, isInNamespace, parseToolId, toFullId } from '../../rules/tool-id.ts'
import type { OperationContext, ToolContext } from '../operation.ts'
import { validState } from '../operation.ts'
import { type ToolView, toolViewOfCaller } from '../search/tool-view.ts'

const loadOfferedDoc = lazyModule(() => import('../registry/offered-doc.ts'))

/** A registered tool in its present state, whatever its status, and the version in the name. */
export interface NamedTool {
  readonly id: string
  readonly registered: RegisteredTool
  readonly version?: number | undefined
}

/** The tool of a name: an entry of the catalog, or a registered tool in its stored state. */
export type ResolvedName = NamedTool | (FoundEntry & { readonly registered?: undefined })

/** The parts of a name. */
interface AskedTool {
  readonly name: string
  readonly namespace?: string | undefined
  readonly version?: number | undefined
}

/**
 * The tool of a name, on every surface: the one with exactly this id, or else the only one with this name, or else the one
 * with this alias in lists for models. A name that a config and the registry both offer is ambiguous, so that no source can
 * intercept calls of another's tool.
 */
export async function resolveName(context: ToolContext, idOrName: string): Promise<ResolvedName | undefined> {
  const found = await findByName(context, idOrName)
  if (found !== undefined) return found
  const id = await findByAlias(context, idOrName)
  return id === undefined ? undefined : findByName(context, id)
}

async function findByName(context: ToolContext, idOrName: string): Promise<ResolvedName | undefined> {
  const entry = findUnregistered(await context.catalog.open(), idOrName, await toolsetView(context))
  if (entry?.id === idOrName) return entry
  const named = await findNamedTool(context, idOrName)
  if (entry === undefined || named === undefined) return named ?? entry
  const { registered } = named
  // The namespace of a server is its own, also where a tool was registered in it before.
  if (entry.tool.namespace !== undefined && idOrName.startsWith(`${entry.tool.namespace}:`)) return entry
  if (registered.name !== idOrName) return named
  // A tool that cannot be called does not make the name ambiguous.
  if (!isCallable(registered) || !(await isShownTool(context, named))) return entry
  throw ambiguousName(idOrName, [entry.id, toFullId(registered)])
}

/** A tool of a config by id, name or name in clients; or one of another source, but not of the registry. */
export function findUnregistered(tools: Catalog, idOrName: string, view?: ToolView): FoundEntry | undefined {
  const find = (text: string) =>
    tools.find(
      text,
      ({ tool, origins: [origin] }) =>
        tool.source !== 'registry' && (view?.shows({ tool, runnable: origin?.runnable }) ?? true),
    )
  const found = find(idOrName)
  const [, namespace, name] = /^([^:]+):([^:]+)$/.exec(idOrName) ?? []
  // A tool of an MCP server has its namespace in its name too; its own name is enough behind the namespace.
  return found ?? (namespace === undefined ? undefined : find(`${namespace}:${namespace}__${name}`))
}

/** Outside of a toolset, tools with the name of one inside do not exist; policies hide all tools of a name alike. */
const toolsetView = async (context: ToolContext): Promise<ToolView | undefined> =>
  context.caller.toolsets === undefined ? undefined : toolViewOfCaller(context)

/** Whether the caller sees a registered tool in its present state. */
export async function isShownTool(context: ToolContext, { id, registered }: NamedTool): Promise<boolean> {
  const view = await toolViewOfCaller(context)
  if (view === undefined) return true
  const offered = (await context.catalog.open()).entries.get(id)
  const [origin] = offered?.origins ?? []
  if (offered?.tool.source === 'registry') return view.shows({ tool: offered.tool, runnable: origin?.runnable })
  const { findToolForm } = await loadOfferedDoc()
  return view.shows(await findToolForm(context, registered))
}

/** A registered tool by name, catalog id or row id, each with or without a version. */
export async function findNamedTool(
  context: OperationContext<'registry?'>,
  idOrName: string,
): Promise<NamedTool | undefined> {
  const { registry, caller } = context
  const parsed = readName(idOrName)
  if (registry === undefined || parsed === undefined) return undefined
  const registered = await registry.stores.tools.get(caller.workspace, parsed.name, validState(context))
  if (registered === undefined || !isInNamespace(registered.namespace, parsed.namespace)) return undefined
  return { id: idOfRegistered(registered), registered, version: parsed.version }
}

/** The id of the tool with an alias in lists for models, which is the only name that a model has. */
async function findByAlias(context: ToolContext, alias: string): Promise<string | undefined> {
  if (!/^[\w-]{1,64}$/.test(alias)) return undefined
  const tools = await context.catalog.open()
  const ids = await idsOfAlias(tools, alias)
  const view = ids.length === 0 ? undefined : await toolViewOfCaller(context)
  const unseen = view === undefined ? [] : tools.list().filter((found) => !view.shows(found))
  const hidden = new Set(unseen.map(({ id, tool }) => toNamedTool(tools, id, tool).id))
  // The id of a hidden tool must not leak.
  return ids.find((id) => !hidden.has(id))
}

/** One version of a registered tool. */
export async function toolInVersion(
  { registry, caller }: OperationContext<'registry?'>,
  tool: RegisteredTool,
  version: number | undefined,
): Promise<RegisteredTool> {
  if (version === undefined || version === tool.version) return tool
  const isPast = version >= 1 && version < tool.version
  const found = isPast ? await registry?.stores.tools.version(caller.workspace, tool.id, version) : undefined
  if (found !== undefined) return { ...tool, ...found.content, version }
  throw new TooldexError('NOT_FOUND', `${tool.name} has no version ${version}; its versions are 1 to ${tool.version}.`)
}

/** The id of a registered tool in the catalog. */
export const idOfRegistered = ({ name, namespace }: RegisteredTool): string =>
  formatToolId({ name, namespace: namespace ?? undefined })

/** Whether a registered tool can be called by its name. */
export const isCallable = ({ status }: RegisteredTool): boolean => status === 'ACTIVE' || status === 'DEPRECATED'

/** Parses `name`, `name@3`, `namespace:name`, `namespace:name:3` and `namespace:name@3`; undefined for anything else. */
function readName(text: string): AskedTool | undefined {
  try {
    const { version, ...rest } = parseToolId(text)
    if (version === undefined) return rest
    return /^\d{1,15}$/.test(version) ? { ...rest, version: Number(version) } : undefined
  } catch {
    return undefined
  }
}

const loadDefinitions = lazyModule(() => import('../../definitions/index.ts'))

type IdsByAlias = ReadonlyMap<string, readonly string[]>

/** The aliases of each catalog in its present version; they are computed with the first name that is no name of a tool. */
const indexes = new WeakMap<Catalog, { readonly version: number; readonly ids: Promise<IdsByAlias> }>()

/** The ids of the tools with an alias in lists for models, the best first. */
async function idsOfAlias(tools: Catalog, alias: string): Promise<readonly string[]> {
  const { version } = tools
  const known = indexes.get(tools)
  const ids = known?.version === version ? known.ids : readAliases(tools)
  indexes.set(tools, { version, ids })
  return (await ids).get(alias) ?? []
}

/** A tool as named in lists for models: with a full id if several tools have its name. */
export function toNamedTool(tools: Catalog, id: string, tool: Pick<CatalogTool, 'name' | 'namespace'>) {
  const { name, namespace } = tool
  if (namespace || !tools.sharesName(tool)) return { id, name, namespace }
  const fullId = toFullId(tool)
  return { id: fullId, name, namespace: parseToolId(fullId).namespace }
}

async function readAliases(tools: Catalog): Promise<IdsByAlias> {
  const { aliasCandidates, assignAliases } = await loadDefinitions()
  const turn = yieldTurns()
  const named = Array.from(tools.entries, ([id, { tool }]) => toNamedTool(tools, id, tool))
  const ids = new Map<string, string[]>()
  const add = (alias: string, id: string): void => {
    const known = ids.get(alias)
    if (known === undefined) ids.set(alias, [id])
    else if (!known.includes(id)) known.push(id)
  }
  for (const format of ['openai', 'gemini'] as const) {
    await turn()
    for (const [id, alias] of assignAliases(named, format)) add(alias, id)
  }
  // A client may remember the alias with a hash, which no change of the list invalidates.
  for (const tool of named) {
    add(aliasCandidates(tool, 'openai').at(-1) ?? tool.name, tool.id)
    await turn()
  }
  return ids
}
