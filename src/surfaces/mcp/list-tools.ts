import type { Tool } from '@modelcontextprotocol/server'
import { showInvisible } from '../../base/visible-text.ts'
import { toHints } from '../../contract/cli-config.ts'
import { toClientName } from '../../contract/client-name.ts'
import type { JsonSchema } from '../../contract/input-schema.ts'
import type { CatalogueSnapshot } from '../../operations/live-catalogue.ts'
import { isMetaTool, metaTools } from './meta-tools.ts'

/** Which tools a client sees in its list. */
export interface ListMode {
  /** Every tool itself, and none of the three. */
  readonly classic: boolean
  /** Tools to show beside the three. */
  readonly pinned: readonly string[]
}

/** The list of tools: the three, with the pinned ones; or in classic mode all. The same every time it is asked for. */
export function listedTools(snapshot: CatalogueSnapshot, { classic, pinned }: ListMode): readonly Tool[] {
  if (classic) return snapshot.entries.map((entry) => toTool(snapshot, entry))
  const shown = pinned.map((name) => snapshot.names.get(name)).filter((entry) => entry !== undefined)
  return [
    ...metaTools(),
    ...shown.filter((entry) => !isMetaTool(entry.toolName)).map((entry) => toTool(snapshot, entry)),
  ]
}

function toTool(snapshot: CatalogueSnapshot, entry: CatalogueSnapshot['entries'][number]): Tool {
  const hints = snapshot.index.get(entry.toolName)?.tool.annotations
  return {
    name: toClientName(entry.toolName),
    title: toTitle(entry.toolName),
    description: showInvisible(entry.description),
    inputSchema: showDescriptions(entry.inputSchema) as Tool['inputSchema'],
    ...(hints === undefined ? {} : { annotations: toHints(hints) }),
  }
}

/** A schema whose descriptions hide nothing from the person who reads them; names and values stay as they are. */
function showDescriptions(schema: JsonSchema): JsonSchema {
  const properties = Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>)
  const shown = properties.map(([name, property]) => {
    const { description } = property
    return [name, typeof description === 'string' ? { ...property, description: showInvisible(description) } : property]
  })
  return { ...schema, properties: Object.fromEntries(shown) }
}

/** `git_status` as a person would write it: `Git status`. */
function toTitle(name: string): string {
  const words = name.replace(/[_.-]+/g, ' ').trim()
  return words.charAt(0).toUpperCase() + words.slice(1)
}
