import type { Tool } from '@modelcontextprotocol/server'
import { showInvisible } from '../../base/visible-text.ts'
import type { CatalogTool } from '../../contract/catalog.ts'
import type { JsonSchema } from '../../contract/input-schema.ts'
import { type CatalogSnapshot, configToolId, type LiveCatalog } from '../../operations/catalog/live-catalog.ts'
import { toClientName } from '../../rules/client-name.ts'
import { formatToolId, toFullId } from '../../rules/tool-id.ts'
import { isMetaTool } from './meta-tools.ts'

/** The selection of tools in the list of a client. */
export interface ListMode {
  /** Lists every tool directly, without the meta tools. */
  readonly classic: boolean
  /** Tools listed beside the meta tools. */
  readonly pinned: readonly string[]
}

/** A listed tool, with the id for its calls. */
export interface ListedTool {
  readonly id: string
  readonly tool: Tool
}

/** The tools beside the meta tools, or in classic mode all; tools of configs keep their names even if a registered tool has the same. */
export function listedWithIds(catalog: LiveCatalog, { classic, pinned }: ListMode): readonly ListedTool[] {
  const snapshot = catalog.current()
  const registered = classic || pinned.length > 0 ? catalog.registered() : []
  const fromRegistry = (tool: CatalogTool): ListedTool => {
    const isShared = snapshot.names.has(tool.name)
    const name = isShared ? toSharedName(tool, snapshot) : toClientName(tool.name)
    return { id: isShared ? toFullId(tool) : formatToolId(tool), tool: { ...toRegistered(tool), name } }
  }
  if (classic) {
    const own = snapshot.entries.map((entry) => fromConfig(snapshot, entry))
    return [...registered.map(fromRegistry), ...own]
  }
  const pinnedTools = pinned.flatMap((name) => {
    const entry = snapshot.names.get(name)
    if (entry !== undefined) return [fromConfig(snapshot, entry)]
    return registered.filter((tool) => isNamed(tool, name)).map(fromRegistry)
  })
  return pinnedTools.filter(({ tool }) => !isMetaTool(tool.name))
}

/** The name of a registered tool whose own name is that of a tool of a config. */
function toSharedName(tool: CatalogTool, { names }: CatalogSnapshot): string {
  const id = toFullId(tool)
  const readable = id.replace(':', '_')
  return names.has(readable) ? toClientName(id) : toClientName(readable)
}

const isNamed = (tool: CatalogTool, name: string): boolean =>
  tool.name === name || formatToolId(tool) === name || toFullId(tool) === name

function fromConfig(snapshot: CatalogSnapshot, entry: CatalogSnapshot['entries'][number]): ListedTool {
  const id = configToolId(entry)
  // If the id is also the name of another tool, the name is used instead.
  return { id: snapshot.names.get(id) === entry ? id : entry.toolName, tool: toTool(snapshot, entry) }
}

type ListedFields = Pick<
  CatalogTool,
  'name' | 'title' | 'description' | 'inputSchema' | 'annotations' | 'icons' | '_meta'
>

/** Converts a registered tool to MCP, without the output schema: results have their own structure. */
export function toRegistered({
  name,
  title,
  description,
  inputSchema,
  annotations,
  icons,
  _meta,
}: ListedFields): Omit<Tool, 'name'> {
  return {
    title: showInvisible(title ?? toTitle(name)),
    description: showInvisible(description),
    inputSchema: showDescriptions(inputSchema) as Tool['inputSchema'],
    ...(annotations === undefined ? {} : { annotations }),
    ...(icons === undefined ? {} : { icons: [...icons] as Tool['icons'] }),
    ...(_meta === undefined ? {} : { _meta }),
  }
}

function toTool(snapshot: CatalogSnapshot, entry: CatalogSnapshot['entries'][number]): Tool {
  const annotations = snapshot.index.get(entry.toolName)?.tool.annotations
  return {
    name: toClientName(entry.toolName),
    title: toTitle(entry.toolName),
    description: showInvisible(entry.description),
    inputSchema: showDescriptions(entry.inputSchema) as Tool['inputSchema'],
    ...(annotations === undefined ? {} : { annotations }),
  }
}

/** Makes invisible characters visible in the descriptions of a schema; names and values are unchanged. */
function showDescriptions(schema: JsonSchema): JsonSchema {
  const properties = Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>)
  const visible = properties.map(([name, property]) => {
    const { description } = property
    return [name, typeof description === 'string' ? { ...property, description: showInvisible(description) } : property]
  })
  return { ...schema, properties: Object.fromEntries(visible) }
}

/** Derives a title from a name: `git_status` becomes `Git status`. */
function toTitle(name: string): string {
  const words = name.replace(/[_.-]+/g, ' ').trim()
  return words.charAt(0).toUpperCase() + words.slice(1)
}
