import { deepFreeze } from '../../base/json-values.ts'
import { normalizeTags } from '../../catalog/index.ts'
import type { Backend, CatalogTool } from '../../contract/catalog.ts'
import type { ToolIndexEntry } from '../../contract/tool-index.ts'
import type { ToolIndex } from '../../search/index.ts'

/** The backend of all tools of configs. */
export const configBackend: Backend = { kind: 'local', name: 'cli' }

/** The tools of configs in catalog form; the naming rules of the catalog do not apply to them. */
export function toCatalogTools(index: ToolIndex, entries: readonly ToolIndexEntry[]): readonly CatalogTool[] {
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
