import type { Problem } from '../../base/problem.ts'
import { didYouMean } from '../../base/suggest.ts'
import { McpConfig } from './check-config.ts'
import { describeFailure } from './describe-failure.ts'
import type { Upstreams } from './upstreams.ts'

const withinMs = 10_000
const believedMs = 15_000

/** Says that a server is not among those of the settings. */
export const unknownServer = (server: string): string =>
  `There is no MCP server '${server.slice(0, 200)}' in the settings here.`

type Listed = { readonly at: number; readonly tools: readonly string[] } | { readonly at: number; readonly why: string }
const listed = new WeakMap<Upstreams, Map<string, Listed>>()

/** Whether the server and the tool that a config names are there; a server that cannot be asked now is only a warning. */
export async function checkUpstream(
  upstreams: Upstreams,
  config: unknown,
  pointer: string,
  signal?: AbortSignal,
): Promise<readonly Problem[]> {
  const parsed = McpConfig.safeParse(config)
  // What is wrong with the config itself is said by its own check.
  if (!parsed.success) return []
  const { server, tool } = parsed.data
  if (!upstreams.servers.has(server)) {
    const message = `${unknownServer(server)}${didYouMean(server, upstreams.servers.keys())}`
    return [
      { severity: 'error', pointer: `${pointer}/server`, message, hint: 'add it to servers.json, and start again' },
    ]
  }
  const found = await listTools(upstreams, server, signal)
  if ('why' in found) {
    const message = `the MCP server '${server}' cannot be asked now: it ${found.why}`
    return [
      { severity: 'warning', pointer: `${pointer}/server`, message, hint: 'whether it has the tool is not known' },
    ]
  }
  if (found.tools.includes(tool)) return []
  const message = `the MCP server '${server}' has no tool '${tool}'.${didYouMean(tool, found.tools)}`
  return [{ severity: 'error', pointer: `${pointer}/tool`, message, hint: someOf(found.tools) }]
}

const someOf = (tools: readonly string[]): string =>
  tools.length === 0 ? 'it has none' : `it has: ${tools.slice(0, 20).join(', ')}`.slice(0, 500)

/** Many tools of one server are checked at once; it is asked once for all of them. */
async function listTools(upstreams: Upstreams, server: string, signal?: AbortSignal): Promise<Listed> {
  const known = listed.get(upstreams) ?? new Map<string, Listed>()
  listed.set(upstreams, known)
  const before = known.get(server)
  if (before !== undefined && Date.now() - before.at < believedMs) return before
  const late = AbortSignal.timeout(withinMs)
  const found = await upstreams
    .of(server)
    ?.listTools(signal === undefined ? late : AbortSignal.any([late, signal]))
    .then((tools) => ({ tools }))
    .catch((error) => ({ why: late.aborted ? `did not answer within ${withinMs / 1000} s` : describeFailure(error) }))
  const now = { at: Date.now(), ...(found ?? { why: 'is gone' }) }
  known.set(server, now)
  return now
}
