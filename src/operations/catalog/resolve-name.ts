import { TooldexError } from '../../base/errors.ts'
import type { RegisteredTool } from '../../contract/registry.ts'
import type { ResolvedTool, ToolIndexEntry } from '../../contract/tool-index.ts'
import { ambiguousName, formatToolId, isInNamespace, parseToolId, toFullId } from '../../rules/tool-id.ts'
import type { OperationContext, ToolContext } from '../operation.ts'
import { viewOf } from '../search/tool-view.ts'
import { configToolId } from './live-catalog.ts'

/** A tool of a config, with its entry and its runnable form. */
export interface FoundTool {
  readonly from: 'config'
  readonly entry: ToolIndexEntry
  readonly resolved: ResolvedTool
}

/** A registered tool in its present state, whatever its status, and the version in the name. */
export interface NamedTool {
  readonly from: 'registry'
  readonly tool: RegisteredTool
  readonly version?: number | undefined
}

/** The parts of a name. */
interface AskedTool {
  readonly name: string
  readonly namespace?: string | undefined
  readonly version?: number | undefined
}

/**
 * The tool of a name, on every surface: the one with exactly this id, or else the only one with this bare name. A name that
 * a config and the registry both offer is ambiguous, so that no source can intercept calls of another's tool.
 */
export async function resolveName(context: ToolContext, idOrName: string): Promise<FoundTool | NamedTool | undefined> {
  const configTool = findInConfigs(context, idOrName)
  if (configTool !== undefined && configToolId(configTool.entry) === idOrName) return configTool
  const named = await findNamed(context, idOrName)
  if (configTool === undefined || named === undefined) return named ?? configTool
  if (named.tool.name !== idOrName) return named
  // A tool that cannot be called does not make the name ambiguous.
  if (!isCallable(named.tool) || (await viewOf(context))?.sees(named.tool) === false) return configTool
  throw ambiguousName(idOrName, [configToolId(configTool.entry), toFullId(named.tool)])
}

/** A registered tool by name, catalog id or row id, each with or without a version. */
export async function findNamed(
  { registry, caller }: OperationContext<'registry?'>,
  idOrName: string,
): Promise<NamedTool | undefined> {
  const parsed = readName(idOrName)
  if (registry === undefined || parsed === undefined) return undefined
  const tool = await registry.stores.tools.get(caller.workspace, parsed.name)
  if (tool === undefined || !isInNamespace(tool.namespace, parsed.namespace)) return undefined
  return { from: 'registry', tool, version: parsed.version }
}

/** One version of a registered tool. */
export async function inVersion(
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

function findInConfigs({ catalog }: OperationContext<'catalog'>, idOrName: string): FoundTool | undefined {
  const { names, index } = catalog.current()
  const entry = names.get(idOrName)
  const resolved = entry === undefined ? null : index.get(entry.toolName)
  return entry === undefined || resolved === null ? undefined : { from: 'config', entry, resolved }
}

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
