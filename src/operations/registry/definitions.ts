import * as z from 'zod'
import { yieldTurns } from '../../base/yield-turns.ts'
import type { Catalog } from '../../catalog/index.ts'
import type { CatalogTool } from '../../contract/catalog.ts'
import { CompiledTool, CompiledTools, LlmFormat, type LlmTool } from '../../contract/llm.ts'
import { assignAliases, compileTools } from '../../definitions/index.ts'
import { findTool } from '../catalog/find-tool.ts'
import { toNamedTool } from '../catalog/resolve-name.ts'
import { compileToolInThread } from '../checks/tool-threads.ts'
import { defineOperation } from '../operation.ts'
import { toCatalogFilters, withSubcategories } from '../search/search-filters.ts'
import { toolViewOfCaller } from '../search/tool-view.ts'

const tag = 'llm'
const options = {
  format: LlmFormat.default('mcp').describe('The provider whose format the definitions have.'),
  deferLoading: z.boolean().optional().describe('Defer the tools to the tool search of the provider, if it has one.'),
  namespaces: z.boolean().optional().describe('Group tools by namespace, if the provider supports it.'),
}

/** Lists definitions for a model. */
export const listForModel = defineOperation({
  name: 'llm.list',
  summary: 'List the definitions of offered tools for a provider, registered tools first, with the losses of each.',
  scope: 'read',
  needs: ['catalog', 'registry?'],
  http: { method: 'get', path: '/llm/tools', tag },
  input: z.object({
    ...options,
    category: z.string().max(200).optional().describe('The name or id of a category; its subcategories are included.'),
    tags: z.array(z.string().max(100)).optional(),
    limit: z.int().min(1).max(1000).default(100),
    cursor: z.string().max(1000).optional().describe('The nextCursor of the previous page.'),
  }),
  output: CompiledTools.extend({
    omitted: z.int().describe('Number of tools after this page.'),
    nextCursor: z.string().optional().describe('The cursor of the next page; absent on the last one.'),
  }),
  async handle({ format, category, tags, limit, cursor, ...wishes }, context) {
    const tools = await context.catalog.indexInTurns(undefined, context.signal)
    const page = tools.search({
      filters: await withSubcategories(toCatalogFilters({ category, tags }), context),
      limit,
      cursor,
      view: await toolViewOfCaller(context),
    })
    const listed = page.hits.map(({ id, tool }) => toLlmTool(tools, id, tool))
    const nextCursor = page.cursorAfter(listed.length)
    const turn = yieldTurns(context.signal)
    const aliases = aliasesOf(tools, format)
    await turn()
    return {
      ...(await compileTools(listed, format, { ...plain(wishes), aliases, turn, compile: compileToolInThread })),
      omitted: page.total - page.offset - listed.length,
      ...(nextCursor === undefined ? {} : { nextCursor }),
    }
  },
})

/** Returns the definition of one tool. */
export const getForModel = defineOperation({
  name: 'llm.get',
  summary: 'Return the definition of one tool for a provider, by name, id or alias, with its losses.',
  scope: 'read',
  needs: ['catalog', 'registry?'],
  http: { method: 'get', path: '/llm/tools/{name}', tag },
  input: z.object({ name: z.string().min(1).max(300), ...options }),
  output: CompiledTool.extend({ id: z.string() }),
  async handle({ name, format, ...wishes }, context) {
    const { id, tool } = await findTool(context, name)
    const tools = await context.catalog.open()
    const named = toLlmTool(tools, id, tool)
    const alias = aliasesOf(tools, format).get(named.id)
    const chosen = { ...plain(wishes), ...(alias === undefined ? {} : { alias }) }
    return { id, ...(await compileToolInThread(named, format, chosen, context.signal)) }
  },
})

/** Assigns aliases over all tools, so that no two pages have the same name for different tools. */
const aliasesOf = (tools: Catalog, format: LlmFormat) =>
  assignAliases(
    Array.from(tools.entries, ([id, { tool }]) => toNamedTool(tools, id, tool)),
    format,
  )

/** A tool of the catalog, for the formats of models and of other agents. */
export function toLlmTool(tools: Catalog, id: string, tool: CatalogTool): LlmTool {
  const { version, title, description, inputSchema, outputSchema, annotations, icons, _meta, tags, exampleRequests } =
    tool
  return {
    ...toNamedTool(tools, id, tool),
    version,
    displayName: title,
    description,
    inputSchema,
    outputSchema,
    annotations,
    icons,
    _meta,
    tags,
    exampleRequests,
  }
}

const plain = ({
  deferLoading = false,
  namespaces = false,
}: {
  deferLoading?: boolean | undefined
  namespaces?: boolean | undefined
}) => ({
  deferLoading,
  namespaces,
})
