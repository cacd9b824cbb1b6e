import { toDisplayName } from '../../contract/bundle.ts'
import { registryLimits } from '../../contract/registry.ts'
import type { Finding } from '../../diagnostics/finding.ts'
import { type BundleView, bundleFieldOf, type Fields, isFields } from './bundle-view.ts'

/** A tool converted from another format, with the source paths of its parts. */
interface ForeignTool {
  readonly value: Fields
  readonly origin: (path: readonly PropertyKey[]) => readonly PropertyKey[]
  readonly findings: readonly Finding[]
}

const ours = [
  'displayName',
  'executorType',
  'executorConfig',
  'scriptContent',
  'scriptFile',
  'category',
  'status',
  'tags',
]

/** Whether a tool has the format of OpenAI, MCP or Anthropic, that is none of the keys of our own. */
export const isForeign = (tool: Fields): boolean => ours.every((key) => bundleFieldOf(tool, key) === undefined)

/**
 * Reads `{type: 'function', function: {...}}`, `{name, parameters}`, `{name, inputSchema}` and `{name, input_schema}`. Such a tool
 * has no executor: it becomes a tool of an MCP server that is still to be named, under its original name.
 */
function readForeignTool(tool: Fields): ForeignTool {
  const nested = isFields(tool.function)
  const inner = isFields(tool.function) ? tool.function : tool
  const schemaKey = Object.hasOwn(inner, 'parameters') ? 'parameters' : 'inputSchema'
  const value = toTool(inner, schemaKey)
  const rename = (key: PropertyKey) => (key === 'inputSchema' ? schemaKey : key)
  return {
    value,
    origin: (path) => [...(nested ? ['function'] : []), ...path.map((key, depth) => (depth === 0 ? rename(key) : key))],
    findings: [...warnTool(inner, value), ...warnLeftOut(tool, inner)],
  }
}

function toTool(inner: Fields, schemaKey: string): Fields {
  const { name, description } = inner
  if (typeof name !== 'string') return { name, displayName: '?', description: '?', inputSchema: {} }
  const annotations = isFields(inner.annotations) ? inner.annotations : {}
  const displayName = firstText(inner.title, annotations.title) ?? toDisplayName(name)
  const outputSchema = bundleFieldOf(inner, 'outputSchema')
  return {
    name: toSafeToolName(name),
    displayName,
    description: description === undefined || description === '' ? displayName : description,
    inputSchema: bundleFieldOf(inner, schemaKey) ?? { type: 'object', properties: {} },
    ...(outputSchema === undefined ? {} : { outputSchema }),
    ...(inner.annotations === undefined ? {} : { annotations: inner.annotations }),
    ...(inner.icons === undefined ? {} : { icons: inner.icons }),
    ...(inner._meta === undefined ? {} : { _meta: inner._meta }),
    executorType: 'mcp',
    executorConfig: { tool: name },
  }
}

function warnTool({ name, description }: Fields, value: Fields): readonly Finding[] {
  if (typeof name !== 'string') return []
  const message = `'${name}' has no description; its title is used instead`
  const missing = { path: [], message, hint: 'describe what it does', severity: 'warning' } as const
  const none = description === undefined || description === ''
  return [...warnToolName(name, String(value.name), ['name']), ...(none ? [missing] : [])]
}

const taken = ['name', 'title', 'description', 'parameters', 'inputSchema', 'input_schema', 'outputSchema']
const known = new Set([...taken, 'output_schema', 'annotations', 'icons', '_meta', 'type', 'function'])

/** Lists the fields that the registry cannot store, instead of dropping them silently. */
function warnLeftOut(tool: Fields, inner: Fields): readonly Finding[] {
  const left = [...new Set([...Object.keys(tool), ...Object.keys(inner)])].filter((key) => !known.has(key))
  if (left.length === 0) return []
  return [{ path: [], message: `left out of '${String(inner.name)}': ${left.join(', ')}`, severity: 'warning' }]
}

const firstText = (...values: readonly unknown[]): string | undefined =>
  values.find((value): value is string => typeof value === 'string' && value.trim() !== '')

/** Converts a name to the form of the registry: `getWeather` and `get-weather` become `get_weather`. */
export function toSafeToolName(name: string): string {
  const apart = name.replace(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase()
  const safe = apart.replace(/[^a-z0-9_]+/g, '_').slice(0, registryLimits.name)
  return safe === apart ? safe : safe.replace(/^_+|_+$/g, '')
}

/** Converts a namespace to the form of the registry. */
export const toSafeNamespace = (name: string): string =>
  name.replace(/[:\s/]+/gu, '-').slice(0, registryLimits.namespace)

/** A warning if the name was changed. */
export function warnToolName(from: string, to: string, path: readonly PropertyKey[]): readonly Finding[] {
  if (from === to) return []
  const message = `'${from}' was renamed to '${to}'`
  return [{ path, message, hint: 'names in the registry are snake_case', severity: 'warning' }]
}

/** A list of tools, bare or under `tools`, each in the format of Tooldex, OpenAI, MCP or Anthropic. */
export function toolListAsBundle(given: unknown): BundleView {
  // A raw tools/list response of an MCP server nests the list one level deeper.
  const wrapped = isFields(given) && isFields(given.result) && !Array.isArray(given.tools)
  const value = wrapped ? given.result : given
  const bare = Array.isArray(value)
  const list: unknown = isFields(value) ? value.tools : value
  const items: readonly unknown[] = Array.isArray(list) ? list : []
  const read = items.map((item) => (isFields(item) && isForeign(item) ? readForeignTool(item) : undefined))
  const findings = read.flatMap((tool, index) =>
    (tool?.findings ?? []).map((found) => ({ ...found, path: ['tools', index, ...found.path] })),
  )
  return {
    value: { tooldex: 1, tools: Array.isArray(list) ? items.map((item, index) => read[index]?.value ?? item) : list },
    origin: ([first, index, ...rest]) => [
      ...(wrapped ? ['result'] : []),
      ...(bare || first === undefined ? [] : [first]),
      ...(index === undefined ? [] : [index]),
      ...(read[Number(index)]?.origin(rest) ?? rest),
    ],
    findings: [...findings, ...warnNotRunnable(items), ...remarkPage(value)],
    impliesCategories: true,
  }
}

/** A paginated response has a cursor on every page but the last. */
function remarkPage(value: unknown): readonly Finding[] {
  if (!isFields(value) || typeof value.nextCursor !== 'string') return []
  const message = 'this is one page of the tools of a server, and more pages follow'
  return [
    { path: ['tools'], message, hint: 'ask with the cursor, and import the other pages too', severity: 'warning' },
  ]
}

/** One warning for the whole list instead of one for each tool. */
function warnNotRunnable(items: readonly unknown[]): readonly Finding[] {
  const tools = items.filter(isFields)
  const foreign = tools.filter(isForeign)
  const bare = tools.filter((tool) => !isForeign(tool) && lacksScript(tool))
  return [
    ...remark(foreign, 'cannot be called yet, because the list does not name an executor', mcpHint),
    ...remark(bare, 'cannot be called yet, because they have no script', 'give each its scriptContent or executorType'),
  ]
}

const mcpHint = "set executorConfig.server to the server's name, or choose another executorType"

const lacksScript = (tool: Fields) =>
  (bundleFieldOf(tool, 'scriptContent') ?? bundleFieldOf(tool, 'scriptFile')) == null &&
  [undefined, 'python'].includes(bundleFieldOf(tool, 'executorType') as string)

function remark(tools: readonly Fields[], message: string, hint: string): readonly Finding[] {
  if (tools.length === 0) return []
  const count = tools.length === 1 ? '1 tool' : `${tools.length} tools`
  return [{ path: ['tools'], message: `${count} of the list ${message}`, hint, severity: 'warning' }]
}
