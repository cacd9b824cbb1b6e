import { deepFreeze } from '../../base/json-values.ts'
import { Catalog, normalizeTags } from '../../catalog/index.ts'
import type { Backend, CatalogTool } from '../../contract/catalog.ts'
import type { RunnableTool } from '../../contract/executor.ts'
import type { Isolation } from '../../contract/run.ts'
import type { RankedPage, RankedTool, RankQuery } from '../../contract/search.ts'
import type { ToolIndexEntry } from '../../contract/tool-index.ts'
import { type Readiness, ready } from '../../contract/tool-state.ts'
import { fromConfig } from '../../rules/runnable-tool.ts'
import type { ToolIndex } from '../../search/index.ts'
import { needsApproval } from '../search/tool-view.ts'
import { type CatalogSnapshot, configToolId, type LiveCatalogOptions } from './live-catalog.ts'
import { LiveIndex } from './live-index.ts'
import { runnableFor } from './runnable-for.ts'

/** The catalog of every source, and the search engine that follows it. */
export interface OpenCatalog {
  /** The tools of every source; those of configs are in it as one backend. */
  readonly tools: Catalog
  readonly index: LiveIndex
  /** Whether a tool could be run now, and what it needs otherwise. */
  readonly readinessOf: (tool: CatalogTool) => Readiness
  /** The isolation level of a call of the tool, where it applies and is available. */
  readonly isolationOf: (tool: CatalogTool) => Isolation | undefined
  /** Replaces the tools of configs with those of a snapshot, in one step. */
  replaceConfigs(snapshot: CatalogSnapshot): void
}

/** Fills a catalog with the tools of configs; `current` returns their present snapshot. */
export function openCatalog(options: LiveCatalogOptions, current: () => CatalogSnapshot): OpenCatalog {
  const wayOf = (tool: CatalogTool): RunnableTool | undefined => {
    const resolved = tool.source === 'cli' ? current().index.get(tool.name) : null
    return resolved === null ? runnableFor(tool) : fromConfig(resolved, tool.namespace)
  }
  const isolationOf = (tool: CatalogTool): Isolation | undefined => {
    const way = wayOf(tool)
    return way === undefined ? undefined : options.isolationOf?.(way)
  }
  const readinessOf = (tool: CatalogTool): Readiness => {
    const way = wayOf(tool)
    const readiness = way === undefined ? ready : (options.readinessOf?.(way) ?? ready)
    return readiness.state === 'ready' && tool.annotations?.requiresApproval === true ? needsApproval : readiness
  }
  const tools = new Catalog({
    ranker: {
      search: (query) => (query.query.trim() === '' ? browse(current(), tools, query) : index.engine().search(query)),
    },
    readinessOf,
    // The command that returns a cursor and the next one that reads it are two processes.
    sharedCursors: true,
    onListenerError: (error) => options.logger.error(`a listener failed: ${String(error)}`),
  })
  const index = new LiveIndex(tools, options)
  const replaceConfigs = (snapshot: CatalogSnapshot) => {
    const before = tools.version
    tools.sync(configBackend, toCatalogTools(snapshot.index, snapshot.entries), { checked: true })
    // Only the listing order may have changed.
    if (tools.version === before) tools.refresh()
  }
  replaceConfigs(current())
  return { tools, index, readinessOf, isolationOf, replaceConfigs }
}

/** The order without a query: registered tools by id, then tools of configs in file order. */
function browse({ entries }: CatalogSnapshot, tools: Catalog, { offset, limit, accept }: RankQuery): RankedPage {
  const configured = new Set(entries.map(configToolId))
  const others = [...tools.entries.keys()].filter((id) => !configured.has(id)).sort()
  const ids = [...others, ...configured].map((id) => ({ id }))
  const fit = ids.filter(({ id }) => tools.entries.has(id) && (accept?.({ id }) ?? true))
  const hits = fit.map((tool): RankedTool => ({ tool, score: 1, scoreType: 'substring' }))
  return { hits: hits.slice(offset, offset + limit), total: hits.length }
}

/** The backend of all tools of configs. */
const configBackend: Backend = { kind: 'local', name: 'cli' }

/** The tools of configs in catalog form; the naming rules of the catalog do not apply to them. */
function toCatalogTools(index: ToolIndex, entries: readonly ToolIndexEntry[]): readonly CatalogTool[] {
  const normalize = rememberTags()
  return entries.map((entry) => {
    const { toolName: name, cliName: namespace, description, inputSchema, category, tags } = entry
    const { annotations, exampleRequests = [] } = index.get(name)?.tool ?? {}
    return deepFreeze({
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
  })
}

/**
 * Normalizes tags with a cache: tools of a config mostly share their tags, and normalization dominates registration time.
 */
function rememberTags(): (tags: readonly string[]) => string[] {
  const cache = new Map<string, string[]>()
  return (tags) => {
    const key = JSON.stringify(tags)
    const normal = cache.get(key) ?? normalizeTags(tags)
    cache.set(key, normal)
    return normal
  }
}
