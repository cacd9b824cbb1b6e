import type { Tool } from '@modelcontextprotocol/server'
import { showInvisible } from '../../base/visible-text.ts'
import type { CatalogTool } from '../../contract/catalog.ts'
import { toHints } from '../../contract/cli-config.ts'
import { toClientName } from '../../contract/client-name.ts'
import type { JsonSchema } from '../../contract/input-schema.ts'
import type { CatalogueSnapshot, LiveCatalogue } from '../../operations/live-catalogue.ts'
import { isMetaTool, metaTools } from './meta-tools.ts'

/** Which tools a client sees in its list. */
export interface ListMode {
  /** Every tool itself, and none of the three. */
  readonly classic: boolean
  /** Tools to show beside the three. */
  readonly pinned: readonly string[]
}

/** The list of tools: the three, with the pinned ones; or in classic mode all. The same every time it is asked for. */
export function listedTools(catalogue: LiveCatalogue, { classic, pinned }: ListMode): readonly Tool[] {
  const snapshot = catalogue.current()
  if (classic) {
    const own = snapshot.entries.map((entry) => toTool(snapshot, entry))
    const taken = new Set(own.map(({ name }) => name))
    return [
      ...own,
      ...catalogue
        .registered()
        .map(toRegistered)
        .filter(({ name }) => !taken.has(name)),
    ]
  }
  const registered = pinned.length === 0 ? [] : catalogue.registered()
  const shown = pinned.flatMap((name) => {
    const entry = snapshot.names.get(name)
    if (entry !== undefined) return [toTool(snapshot, entry)]
    return registered.filter((tool) => tool.name === name).map(toRegistered)
  })
  return [...metaTools(), ...shown.filter(({ name }) => !isMetaTool(name))]
}

function toRegistered({ name, title, description, inputSchema, annotations }: CatalogTool): Tool {
  return {
    name: toClientName(name),
    title: showInvisible(title ?? toTitle(name)),
    description: showInvisible(description),
    inputSchema: showDescriptions(inputSchema) as Tool['inputSchema'],
    ...(annotations === undefined ? {} : { annotations }),
  }
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
