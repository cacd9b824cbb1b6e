import type { Tool } from '@modelcontextprotocol/server'
import { showInvisible } from '../../base/invisible-characters.ts'
import type { Catalog, FoundEntry } from '../../catalog/index.ts'
import type { CatalogTool } from '../../contract/catalog.ts'
import type { JsonSchema } from '../../contract/tool-index.ts'
import { findUnregistered } from '../../operations/catalog/resolve-name.ts'
import type { ToolContext } from '../../operations/operation.ts'
import { toolViewOfCaller } from '../../operations/search/tool-view.ts'
import { toClientName, toFullId } from '../../rules/tool-id.ts'
import type { ListMode } from './list-mode.ts'
import { isMetaTool } from './meta-tools.ts'

/** A listed tool, with the id for its calls. */
export interface ListedTool {
  readonly id: string
  readonly tool: Tool
}

/** The tools beside the meta tools, or in classic mode all; tools of configs keep their names even if a registered tool has the same. */
export async function listedWithIds(
  context: ToolContext,
  { classic, pinned }: ListMode,
): Promise<readonly ListedTool[]> {
  if (!classic && pinned.length === 0) return []
  const [tools, view] = [await context.catalog.open(), await toolViewOfCaller(context)]
  const visible = tools.list().filter((found) => view?.shows(found) ?? true)
  const toListed = (entry: FoundEntry) => toListedTool(tools, entry)
  if (classic) return visible.map(toListed)
  const pinnedTools = pinned.flatMap((name) => {
    const entry = findUnregistered(tools, name, view)
    return visible.filter((each) => (entry === undefined ? isNamed(each, name) : each.id === entry.id))
  })
  return pinnedTools.map(toListed).filter(({ tool }) => !isMetaTool(tool.name))
}

function toListedTool(tools: Catalog, { id, tool }: FoundEntry): ListedTool {
  const isShared = tool.source === 'registry' && findUnregistered(tools, tool.name) !== undefined
  const name = isShared ? toSharedName(tools, tool) : toClientName(tool.name)
  return { id: isShared ? toFullId(tool) : id, tool: { name, ...toRegistered(tool) } }
}

/** The name of a registered tool whose own name is that of a tool of a config. */
function toSharedName(tools: Catalog, tool: CatalogTool): string {
  const id = toFullId(tool)
  const readable = id.replace(':', '_')
  return toClientName(findUnregistered(tools, readable) === undefined ? readable : id)
}

const isNamed = ({ id, tool }: FoundEntry, name: string): boolean =>
  tool.name === name || id === name || toFullId(tool) === name

type ListedFields = Pick<
  CatalogTool,
  'name' | 'title' | 'description' | 'inputSchema' | 'annotations' | 'icons' | '_meta'
>

/** Converts a tool to MCP, without the output schema: results have their own structure. */
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
