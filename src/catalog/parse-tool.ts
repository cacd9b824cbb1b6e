import { deepFreeze } from '../base/json-values.ts'
import { CatalogTool } from '../contract/catalog.ts'
import { formatToolId } from '../rules/tool-id.ts'
import { normalizeTags } from './normalize-tags.ts'
import { readInput } from './read-input.ts'

/** Validates a tool and returns its catalog form: frozen, tags in canonical form, no empty namespace. */
export function parseTool(input: unknown, what = 'invalid tool'): CatalogTool {
  const { namespace, ...tool } = readInput(CatalogTool, input, what)
  const tags = normalizeTags(tool.tags)
  return deepFreeze({ ...tool, ...(namespace === undefined || namespace === '' ? {} : { namespace }), tags })
}

/** The id of a tool: `namespace:name:version`, `namespace:name` or `name`. */
export function toolIdOf(tool: CatalogTool): string {
  const { namespace, name, version } = tool
  return formatToolId({
    name,
    ...(namespace === undefined ? {} : { namespace }),
    ...(version === undefined ? {} : { version }),
  })
}
