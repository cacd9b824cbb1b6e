import type { Finding } from '../../diagnostics/finding.ts'
import { type BundleView, type Fields, fieldOf, isFields } from './bundle-view.ts'
import { isForeign, readForeignTool } from './foreign-tool.ts'

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
  (fieldOf(tool, 'scriptContent') ?? fieldOf(tool, 'scriptFile')) == null &&
  [undefined, 'python'].includes(fieldOf(tool, 'executorType') as string)

function remark(tools: readonly Fields[], message: string, hint: string): readonly Finding[] {
  if (tools.length === 0) return []
  const count = tools.length === 1 ? '1 tool' : `${tools.length} tools`
  return [{ path: ['tools'], message: `${count} of the list ${message}`, hint, severity: 'warning' }]
}
