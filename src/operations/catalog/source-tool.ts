import { showInvisible } from '../../base/invisible-characters.ts'
import { parseTool, type SyncedTool } from '../../catalog/index.ts'
import { type McpServer, sandboxOfServer } from '../../contract/mcp-server.ts'
import type { SourceItem, SourceRef } from '../../contract/source.ts'
import { findSuspiciousIn } from '../../rules/suspicious-text.ts'
import { toClientName } from '../../rules/tool-id.ts'
import { fieldsOf, toRunnable } from './program-tools.ts'

/**
 * The name of a tool of a source in the catalog: no server can take the name of a tool of another source, or get under a
 * rule of a policy for one.
 */
export const sourceToolName = (source: string, tool: string): string =>
  `${source}__${/^[A-Za-z0-9_.-]{1,60}$/.test(tool) ? tool : toClientName(tool)}`

/** A tool of a source in catalog form, with its runnable form. */
export function toSourceTool(ref: SourceRef, server: McpServer | undefined, item: SourceItem): SyncedTool {
  const original = String(item.name)
  const name = sourceToolName(ref.name, original)
  const suspicious = findSuspiciousIn(item)
  const securitySummary = `This definition is suspicious: ${suspicious.join('; ')}.`
  const fields = { ...showHiddenTexts(fieldsOf(item)), ...(suspicious.length === 0 ? {} : { securitySummary }) }
  const tool = parseTool({ ...fields, name, namespace: ref.name, source: 'mcp' }, original)
  const timeoutMs = server?.timeoutMs
  const config = { server: ref.name, tool: original, ...(timeoutMs === undefined ? {} : { timeoutMs }) }
  const isProgram = server !== undefined && 'command' in server
  const isolation = isProgram ? (sandboxOfServer(server) ?? 'limited') : 'none'
  return { tool, runnable: { ...toRunnable(tool, 'mcp', config), source: { ...ref, isolation } } }
}

/** A definition whose texts for readers have no hidden characters; names and values are left as the server expects them. */
export function showHiddenTexts(value: unknown): Record<string, unknown> {
  const show = (each: unknown, key: string): unknown => {
    if (typeof each === 'string') return readTexts.has(key) ? showInvisible(each) : each
    if (Array.isArray(each)) return each.map((inner) => show(inner, ''))
    if (typeof each !== 'object' || each === null) return each
    return Object.fromEntries(Object.entries(each).map(([name, inner]) => [name, show(inner, name)]))
  }
  return show(value, '') as Record<string, unknown>
}

const readTexts = new Set(['title', 'description'])
