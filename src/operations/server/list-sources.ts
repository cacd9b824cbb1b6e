import { basename } from 'node:path'
import * as z from 'zod'
import type { CatalogTool } from '../../contract/catalog.ts'
import { textTag } from '../../rules/expected.ts'
import { toolsetsOfRequest } from '../catalog/caller-toolsets.ts'
import type { LiveCatalog } from '../catalog/live-catalog.ts'
import { defineOperation, type OperationContext } from '../operation.ts'
import { readableNames } from '../search/tool-view.ts'
import { SignInView, visibleSources } from '../sources/source-view.ts'

const Source = z.object({
  kind: z.enum(['config', 'registry', 'mcp']),
  name: z.string(),
  state: z
    .enum(['loaded', 'stale', 'configured', 'known', 'started', 'failed'])
    .describe(
      'stale: the last edit could not be loaded, so the tools are those of the state before it. Of an MCP server: configured, known, started or failed.',
    ),
  tools: z.int().describe('Number of its tools that agents are offered.'),
  registered: z.int().optional().describe('Number of tools in the registry, offered or not.'),
  warnings: z.int().describe('Number of warnings.'),
  problem: z
    .string()
    .optional()
    .describe('The error code of the failure; tooldex validate shows its location. Of an MCP server, the reason.'),
  transport: z.enum(['stdio', 'http']).optional().describe('Of an MCP server.'),
  signIn: SignInView.optional().describe('Of an MCP server with a sign-in.'),
  waiting: z.int().optional().describe('Number of definitions of an MCP server that changed and wait for a decision.'),
  leftOut: z.int().optional().describe('Number of definitions of an MCP server that were left out, at least.'),
})
type Source = z.infer<typeof Source>

/** Lists the sources of tools. */
export const listSources = defineOperation({
  name: 'catalog.sources',
  summary: 'List the sources of tools: configs, the registry and MCP servers, with their tool counts and states.',
  scope: 'read',
  needs: ['catalog', 'registry?', 'sources?'],
  http: { method: 'get', path: '/sources', tag: 'catalog' },
  input: z.object({}),
  output: z.object({
    items: z.array(Source),
    revision: z.string().describe('Changes whenever an offered tool is added, changed or removed.'),
  }),
  async handle(_, context) {
    const names = await readableNames(context)
    const tools = await context.catalog.open()
    const offered = tools.list().flatMap(({ tool }) => ((names?.has(tool.name) ?? true) ? [tool] : []))
    const configs = configSources(context.catalog, offered, names === undefined)
    const servers = await serverSources(context, offered)
    const items = [...configs, ...(await registrySource(context, offered, names)), ...servers]
    const { toolsets } = context.caller
    const lists =
      toolsets === undefined ? undefined : [tools.mark, await toolsetsOfRequest(context), [...(names ?? [])]]
    return { items, revision: lists === undefined ? tools.mark : textTag(JSON.stringify(lists)) }
  },
})

type SourcesContext = OperationContext<'catalog' | 'registry?' | 'sources?'>

/** Only names leave the process, not file paths; a config without visible tools is hidden from the caller. */
function configSources(catalog: LiveCatalog, offered: readonly CatalogTool[], showsAll: boolean): readonly Source[] {
  const failed = new Map(catalog.failures().map(({ name, error }) => [name, error.code]))
  const loaded = catalog.current().configs.map(({ name: fileName, config: { name }, warnings }): Source => {
    const problem = failed.get(fileName)
    failed.delete(fileName)
    const tools = offered.filter(({ source, namespace }) => source === 'cli' && namespace === name).length
    const source = { kind: 'config' as const, name, tools, warnings: warnings.length }
    return problem === undefined ? { ...source, state: 'loaded' } : { ...source, state: 'stale', problem }
  })
  const others = Array.from(failed, ([name, problem]): Source => {
    return { kind: 'config', name: basename(name), state: 'failed', tools: 0, warnings: 0, problem }
  })
  return showsAll ? [...loaded, ...others] : loaded.filter(({ tools }) => tools > 0)
}

async function registrySource(
  { registry, caller }: SourcesContext,
  offered: readonly CatalogTool[],
  names: ReadonlySet<string> | undefined,
): Promise<readonly Source[]> {
  if (registry === undefined) return []
  const tools = offered.filter(({ source }) => source === 'registry').length
  const { status } = await registry.stores.stats.count(caller.workspace, names)
  const registered = Object.values(status).reduce((sum, number) => sum + number, 0)
  return [{ kind: 'registry', name: 'registry', state: 'loaded', tools, registered, warnings: 0 }]
}

async function serverSources(context: SourcesContext, offered: readonly CatalogTool[]): Promise<readonly Source[]> {
  return (await visibleSources(context)).map((source) => {
    const { name, transport, state, waiting, leftOut, lastFailure, signIn } = source
    const tools = offered.filter((tool) => tool.source === 'mcp' && tool.namespace === name).length
    const problem = lastFailure === null ? {} : { problem: lastFailure.reason }
    const more = { ...problem, ...(leftOut && { leftOut }), ...(signIn && { signIn }) }
    return { kind: 'mcp', name, state, tools, warnings: 0, transport, waiting, ...more }
  })
}
