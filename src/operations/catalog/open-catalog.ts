import { deepFreeze } from '../../base/json-values.ts'
import { Catalog, normalizeTags, type SyncedTool, toSearchableTool } from '../../catalog/index.ts'
import type { Backend } from '../../contract/catalog.ts'
import type { SearchableTool } from '../../contract/search.ts'
import type { ResolvedTool, ToolIndexEntry } from '../../contract/tool-index.ts'
import { fromConfig } from '../../rules/runnable-tool.ts'
import { formatToolId } from '../../rules/tool-id.ts'
import type { ToolIndex } from '../../search/tool-index.ts'
import type { LiveCatalog } from './live-catalog.ts'

/** The backend of all tools of configs. */
const configBackend: Backend = { kind: 'local', name: 'cli' }

/** Creates the catalog of every source, with the tools of configs. */
export function openCatalog(live: LiveCatalog, onListenerError: (error: unknown) => void): Catalog {
  let ordered: { readonly index: ToolIndex; readonly positions: ReadonlyMap<string, number> } | undefined
  const positionOf = (id: string): number => {
    const { index } = live.current()
    if (ordered?.index !== index) ordered = { index, positions: new Map(entriesOf(index).map(toPosition)) }
    return ordered.positions.get(id) ?? -1
  }
  const tools = new Catalog({
    // Registered tools by id, then tools of configs in file order.
    order: (id, other) => positionOf(id) - positionOf(other) || (id < other ? -1 : 1),
    readinessOf: (tool, _, runnable) => live.readinessOf({ tool, runnable }),
    // The command that returns a cursor and the next one that reads it are two processes.
    sharedCursors: true,
    onListenerError,
  })
  replaceConfigs(tools, live.current().index)
  return tools
}

/** Replaces the tools of configs, in one step. */
export function replaceConfigs(tools: Catalog, index: ToolIndex): void {
  const { version } = tools
  const normalize = rememberTags()
  const synced = entriesOf(index).map((entry) => toSynced(entry, index.get(entry.toolName) as ResolvedTool, normalize))
  tools.syncParsed(configBackend, synced)
  // Only the order or the way in which calls run may have changed.
  if (tools.version === version) tools.refresh()
}

/** The tools as search indexes them. */
export const searchableTools = (tools: Catalog): readonly SearchableTool[] =>
  tools.list().map(({ id, tool }) => toSearchableTool(id, tool))

const entriesOf = (index: ToolIndex): readonly ToolIndexEntry[] => index.search({ limit: Number.POSITIVE_INFINITY })

const toPosition = ({ cliName: namespace, toolName: name }: ToolIndexEntry, position: number) =>
  [formatToolId({ namespace, name }), position] as const

/** A tool of a config in catalog form, to which the naming rules of the catalog do not apply. */
function toSynced(entry: ToolIndexEntry, resolved: ResolvedTool, normalize: typeof normalizeTags): SyncedTool {
  const { toolName: name, cliName: namespace, description, inputSchema, category, tags } = entry
  const { annotations, exampleRequests = [] } = resolved.tool
  const tool = deepFreeze({
    name,
    namespace,
    description,
    inputSchema,
    tags: normalize(tags),
    source: 'cli' as const,
    ...(annotations === undefined ? {} : { annotations }),
    ...(category === null ? {} : { category }),
    ...(exampleRequests.length === 0 ? {} : { exampleRequests }),
  })
  return { tool, runnable: fromConfig(resolved, namespace) }
}

/**
 * Normalizes tags with a cache: tools of a config mostly share their tags, and normalization dominates registration time.
 */
function rememberTags(): typeof normalizeTags {
  const cache = new Map<string, string[]>()
  return (tags) => {
    const key = JSON.stringify(tags)
    const normal = cache.get(key) ?? normalizeTags(tags)
    cache.set(key, normal)
    return normal
  }
}
