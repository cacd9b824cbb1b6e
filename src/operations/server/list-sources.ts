import { basename } from 'node:path'
import * as z from 'zod'
import type { CatalogTool } from '../../contract/catalog.ts'
import { textTag } from '../../rules/expected.ts'
import { keptToolsets } from '../catalog/caller-toolsets.ts'
import type { LiveCatalog } from '../catalog/live-catalog.ts'
import { defineOperation, type ToolContext } from '../operation.ts'
import { readableNames } from '../search/tool-view.ts'

const Source = z.object({
  kind: z.enum(['config', 'registry']),
  name: z.string(),
  state: z
    .enum(['loaded', 'stale', 'failed'])
    .describe('stale: the last edit could not be loaded, so the tools are those of the state before it.'),
  tools: z.int().describe('Number of its tools that agents are offered.'),
  registered: z.int().optional().describe('Number of tools in the registry, offered or not.'),
  warnings: z.int().describe('Number of warnings.'),
  problem: z.string().optional().describe('The error code of the failure; tooldex validate shows its location.'),
})
type Source = z.infer<typeof Source>

/** Lists the sources of tools. */
export const listSources = defineOperation({
  name: 'catalog.sources',
  summary: 'List the sources of tools, configs and the registry, with their tool counts and load states.',
  scope: 'read',
  needs: ['catalog', 'registry?'],
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
    const items = [...configs, ...(await registrySource(context, offered, names))]
    const { toolsets } = context.caller
    const lists = toolsets === undefined ? undefined : [tools.mark, await keptToolsets(context), [...(names ?? [])]]
    return { items, revision: lists === undefined ? tools.mark : textTag(JSON.stringify(lists)) }
  },
})

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
  { registry, caller }: ToolContext,
  offered: readonly CatalogTool[],
  names: ReadonlySet<string> | undefined,
): Promise<readonly Source[]> {
  if (registry === undefined) return []
  const tools = offered.filter(({ source }) => source === 'registry').length
  const { status } = await registry.stores.stats.count(caller.workspace, names)
  const registered = Object.values(status).reduce((sum, number) => sum + number, 0)
  return [{ kind: 'registry', name: 'registry', state: 'loaded', tools, registered, warnings: 0 }]
}
