import { isDeepStrictEqual } from 'node:util'
import { type Bundle, BundleCategory, type BundleSource, BundleTool } from '../../contract/bundle.ts'
import { HttpServer, StdioServer } from '../../contract/mcp-server.ts'
import { ExecutorChoice, Policy } from '../../contract/policy.ts'
import { Toolset } from '../../contract/toolset.ts'
import { writeYaml } from '../../documents/write-yaml.ts'
import { bundleToolFields } from './bundle-view.ts'
import { sortBundle } from './locate-bundle.ts'

/** A bundle as text that reads back as the same bundle: sorted by name, keys in a fixed order, defaults omitted. */
export function writeBundle(bundle: Bundle, format: 'yaml' | 'json'): string {
  const { categories, tools, policies, toolsets, limits, sources } = sortBundle(bundle)
  const written = {
    tooldex: 1,
    ...(categories.length === 0 ? {} : { categories: categories.map(writeCategory) }),
    ...(tools.length === 0 ? {} : { tools: tools.map(writeTool) }),
    ...(policies.length === 0 ? {} : { policies: policies.map(writePolicy) }),
    ...(toolsets.length === 0 ? {} : { toolsets: toolsets.map(writeToolset) }),
    ...(limits.length === 0 ? {} : { limits }),
    ...(sources.length === 0 ? {} : { sources: sources.map(writeSource) }),
  }
  return format === 'json' ? `${JSON.stringify(written, null, 2)}\n` : writeYaml(written)
}

const emptyCategory = BundleCategory.parse({ name: '?' })
const emptyTool = BundleTool.parse({ name: 'x', displayName: 'x', description: 'x', inputSchema: {} })
const required = { name: undefined, displayName: undefined, description: undefined, inputSchema: undefined }
const toolDefaults = { ...emptyTool, ...required }
const emptyPolicy = Policy.parse({})

const writeCategory = (category: BundleCategory) =>
  leaveOut(category, { ...emptyCategory, name: undefined }, ['name', 'description', 'parent'])

const writeTool = (tool: BundleTool) => leaveOut(tool, toolDefaults, bundleToolFields)

const writePolicy = ({ name, policy }: Bundle['policies'][number]) => {
  // A stored policy that the current rules reject is written unchanged.
  if (!Policy.safeParse(policy).success) return { name, policy }
  return { name, policy: writeRules(policy) }
}

function writeRules(policy: Policy): Record<string, unknown> {
  const executor = leaveOut(policy.executor, emptyPolicy.executor, Object.keys(ExecutorChoice.shape))
  return leaveOut({ ...policy, executor }, { ...emptyPolicy, executor: {} }, Object.keys(Policy.shape))
}

const emptyServers = {
  command: StdioServer.parse({ command: '?' }),
  url: HttpServer.parse({ url: 'http://localhost' }),
}

function writeSource({ name, trust, server }: BundleSource): Record<string, unknown> {
  const empty = 'command' in server ? emptyServers.command : emptyServers.url
  const order = Object.keys('command' in server ? StdioServer.shape : HttpServer.shape)
  const written = leaveOut(server, { ...empty, command: undefined, url: undefined }, order)
  return { name, ...(trust === 'hold' ? {} : { trust }), server: written }
}

const emptyToolset = Toolset.parse({ name: 'x' })

/** A toolset as it is written in a file: without defaults. */
export function writeToolset({ policy, ...toolset }: Toolset): Record<string, unknown> {
  const rules = policy === undefined ? {} : { policy: writeRules(policy) }
  return leaveOut({ ...toolset, ...rules }, { ...emptyToolset, name: undefined }, Object.keys(Toolset.shape))
}

/** The named fields of an object, in that order, without those that equal their default. */
function leaveOut<T extends object>(
  value: T,
  defaults: Readonly<Record<string, unknown>>,
  order: readonly string[],
): Record<string, unknown> {
  const fields = value as Readonly<Record<string, unknown>>
  const kept = order.filter((name) => fields[name] !== undefined && !isDeepStrictEqual(fields[name], defaults[name]))
  return Object.fromEntries(kept.map((name) => [name, fields[name]]))
}
