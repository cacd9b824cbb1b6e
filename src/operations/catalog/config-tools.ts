import { deepFreeze } from '../../base/deep-freeze.ts'
import { normalizeTags } from '../../catalog/index.ts'
import type { Backend, CatalogTool } from '../../contract/catalog.ts'
import { toHints } from '../../contract/cli-config.ts'
import type { ToolIndexEntry } from '../../contract/tool-index.ts'
import type { ToolIndex } from '../../search/index.ts'

/** Who runs the tools of configs. */
export const configBackend: Backend = { kind: 'local', name: 'cli' }

/** The tools of configs as the catalog keeps them; their names may be any, so they are not checked by its rules. */
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
      ...(annotations === undefined ? {} : { annotations: toHints(annotations) }),
      ...(category === null ? {} : { category }),
      ...(exampleRequests.length === 0 ? {} : { exampleRequests }),
    })
  })
}

/** A config's tools mostly have the same tags, and bringing them into one spelling is what registration spends its time on. */
function rememberTags(): (tags: readonly string[]) => string[] {
  const known = new Map<string, string[]>()
  return (tags) => {
    const key = JSON.stringify(tags)
    const normal = known.get(key) ?? normalizeTags(tags)
    known.set(key, normal)
    return normal
  }
}
