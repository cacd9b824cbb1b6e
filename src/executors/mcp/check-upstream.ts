import type { Problem } from '../../base/problem.ts'
import { didYouMean } from '../../base/suggest.ts'
import type { CheckOptions } from '../../contract/executor.ts'
import { describeFailure } from './describe-failure.ts'
import { McpConfig } from './server-settings.ts'
import type { Upstreams } from './upstreams.ts'

const timeoutMs = 10_000
const cacheMs = 15_000

/** The message for a server that is not configured. */
export const unknownServer = (server: string): string =>
  `There is no MCP server '${server.slice(0, 200)}' in the configuration of this host.`

type Listed = { readonly at: number; readonly tools: readonly string[] } | { readonly at: number; readonly why: string }
const listed = new WeakMap<Upstreams, Map<string, Listed>>()

/** Checks that the server and the tool of a config exist; a server that is unavailable now is only a warning. */
export async function checkUpstream(
  upstreams: Upstreams,
  config: unknown,
  pointer: string,
  { signal, mayStart = true }: CheckOptions = {},
): Promise<readonly Problem[]> {
  if (!mayStart) {
    const message = 'the MCP server was not queried: that needs the scope write'
    return [{ severity: 'warning', pointer, message }]
  }
  const parsed = McpConfig.safeParse(config)
  // Problems of the config itself are reported by its own check.
  if (!parsed.success) return []
  const { server, tool } = parsed.data
  if (!upstreams.servers.has(server)) {
    const message = `${unknownServer(server)}${didYouMean(server, upstreams.servers.keys())}`
    return [
      {
        severity: 'error',
        pointer: `${pointer}/server`,
        message,
        hint: 'add it to servers.json; a running server applies the change',
      },
    ]
  }
  const found = await listTools(upstreams, server, signal)
  if ('why' in found) {
    const message = `the MCP server '${server}' is unavailable: it ${found.why}`
    return [
      {
        severity: 'warning',
        pointer: `${pointer}/server`,
        message,
        hint: 'the tool could not be checked; start the server and check again',
      },
    ]
  }
  if (found.tools.includes(tool)) return []
  const message = `the MCP server '${server}' has no tool '${tool}'.${didYouMean(tool, found.tools)}`
  return [{ severity: 'error', pointer: `${pointer}/tool`, message, hint: someOf(found.tools) }]
}

const someOf = (tools: readonly string[]): string =>
  tools.length === 0 ? 'it has none' : `it has: ${tools.slice(0, 20).join(', ')}`.slice(0, 500)

/** Cached, because many tools of one server are checked at once. */
async function listTools(upstreams: Upstreams, server: string, signal?: AbortSignal): Promise<Listed> {
  const cached = listed.get(upstreams) ?? new Map<string, Listed>()
  listed.set(upstreams, cached)
  const previous = cached.get(server)
  if (previous !== undefined && Date.now() - previous.at < cacheMs) return previous
  const timeout = AbortSignal.timeout(timeoutMs)
  const found = await upstreams
    .of(server)
    ?.listTools(signal === undefined ? timeout : AbortSignal.any([timeout, signal]))
    .then((tools) => ({ tools: tools.map(({ name }) => String(name)) }))
    .catch((error) => ({
      why: timeout.aborted ? `did not respond within ${timeoutMs / 1000} s` : describeFailure(error),
    }))
  const now = { at: Date.now(), ...(found ?? { why: 'was removed' }) }
  cached.set(server, now)
  return now
}
