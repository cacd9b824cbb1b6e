import { hostileArguments, hostileText, hostileValue } from './hostile.ts'
import type { FuzzRequest, Known } from './make-request.ts'
import type { Random } from './random.ts'
import { programCall } from './special-inputs.ts'

const methods = [
  'initialize',
  'ping',
  'server/discover',
  'tools/list',
  'resources/list',
  'resources/read',
  'prompts/list',
  'prompts/get',
  'completion/complete',
  'logging/setLevel',
  'notifications/cancelled',
  'notifications/initialized',
] as const
const modernVersion = '2026-07-28'
const versions = [modernVersion, '2025-11-25', '2025-06-18', '2024-11-05', '2099-01-01', 'x'] as const

/** A request of the MCP endpoint: mostly a call of a tool, often with hostile arguments, sometimes no message at all. */
export function makeMcpRequest(random: Random, known: Known): FuzzRequest {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const toolset = random.chance(0.25) ? random.pick([...(known.toolsets ?? []), 'none']) : undefined
  const [route, path] = toolset === undefined ? ['/mcp', '/mcp'] : ['/mcp/{toolset}', `/mcp/${toolset}`]
  const base = { route: `POST ${route}`, method: 'POST', path }
  if (random.chance(0.03)) {
    const method = random.pick(['GET', 'DELETE', 'PUT'])
    return { route: `${method} ${route}`, method, path, headers: { ...headers, ...sessionOf(random) } }
  }
  if (random.chance(0.04)) return { ...base, headers, body: JSON.stringify(hostileValue(random)) }
  const version = random.chance(0.85) ? random.pick([modernVersion, '2025-11-25']) : random.pick(versions)
  const message = messageOf(random, known, version)
  const text = JSON.stringify(message)
  const isBatch = random.chance(0.05) && text.length < 20_000
  const name = (message.params as { readonly name?: unknown }).name
  return {
    ...base,
    body: isBatch
      ? `[${Array(random.pick([0, 2, 100, 150]))
          .fill(text)
          .join()}]`
      : text,
    headers: {
      ...headers,
      'mcp-protocol-version': version,
      ...(random.chance(0.95) ? { 'mcp-method': String(message.method) } : {}),
      ...(typeof name === 'string' && random.chance(0.95) ? { 'mcp-name': headerText(name) } : {}),
      ...sessionOf(random),
    },
  }
}

const sessionOf = (random: Random): Record<string, string> =>
  random.chance(0.1) ? { 'mcp-session-id': random.pick(['a', 'b c', 'x'.repeat(3000)]) } : {}

/** Values of headers are visible ASCII. */
const headerText = (text: string): string => text.replaceAll(/[^\x21-\x7e]/g, '?').slice(0, 500)

function messageOf(random: Random, known: Known, version: string): Record<string, unknown> {
  const [method, params] = random.chance(0.75)
    ? ['tools/call', callOf(random, known)]
    : [random.pick(methods), paramsOf(random, known)]
  const meta = version === modernVersion ? modernMeta : {}
  const progress = random.chance(0.2) ? { progressToken: random.pick<unknown>([1, 'a', {}, null]) } : {}
  const id = random.chance(0.9) ? random.below(5) : hostileValue(random)
  const isNotice = method.startsWith('notifications/')
  return { jsonrpc: '2.0', method, ...(isNotice ? {} : { id }), params: { ...params, _meta: { ...meta, ...progress } } }
}

const modernMeta = {
  'io.modelcontextprotocol/protocolVersion': modernVersion,
  'io.modelcontextprotocol/clientInfo': { name: 'fuzz', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}

function paramsOf(random: Random, known: Known): Record<string, unknown> {
  const handle = random.pick(known.results ?? ['x'])
  return random.pick([
    () => ({}),
    () => ({ uri: `tooldex://results/${handle}` }),
    () => ({ uri: 'lists+file:///1' }),
    () => ({ name: 'lists.prompt_1', arguments: { text: hostileText(random).slice(0, 1000) } }),
    () => ({ uri: hostileText(random).slice(0, 1000), cursor: hostileValue(random) }),
    () => ({ requestId: random.below(5) }),
    () => ({ protocolVersion: random.pick(versions), capabilities: {}, clientInfo: { name: 'fuzz', version: '1' } }),
  ])()
}

function callOf(random: Random, known: Known): Record<string, unknown> {
  const tool = random.pick([...(known.tools ?? []), 'tooldex:read_result', 'tooldex:read_execution'])
  const ids = [tool, `${tool}@1`, hostileText(random).slice(0, 200)]
  const args = toolArguments(random, known, tool)
  return random.pick<() => Record<string, unknown>>([
    () => ({ name: 'call_tool', arguments: { name: tool, arguments: args } }),
    () => ({ name: 'call_tool', arguments: { name: `${tool}@1`, arguments: args, dryRun: random.chance(0.5) } }),
    () => ({ name: 'call_tool', arguments: hostileArguments(random) }),
    () => ({ name: tool, arguments: args }),
    () => ({ name: 'run_code', arguments: programCall(random).input }),
    () => ({ name: 'describe_tool', arguments: { ids: random.chance(0.8) ? ids : hostileValue(random) } }),
    () => ({
      name: 'search_tools',
      arguments: { query: hostileText(random).slice(0, 31_000), limit: random.pick<unknown>([1, 50, -1, 'x']) },
    }),
    () => ({ name: 'search_tools', arguments: { query: hostileValue(random), tags: hostileValue(random) } }),
    () => ({ name: hostileText(random).slice(0, 5000), arguments: hostileValue(random) }),
  ])()
}

const toolArguments = (random: Random, known: Known, tool: string): Record<string, unknown> => {
  if (tool === 'tooldex:read_result') return { handle: random.pick(known.results ?? ['x']), limit: 100 }
  if (tool === 'tooldex:read_execution') return { id: random.pick(known.executions ?? ['x']) }
  return random.chance(0.3) ? { text: 'aaa' } : hostileArguments(random)
}
