import * as z from 'zod'

/** The origin of a tool: a config, the database, an MCP server, an OpenAPI document, or functions of a program. */
export const ToolSource = z.enum(['cli', 'registry', 'mcp', 'openapi', 'code'])
export type ToolSource = z.infer<typeof ToolSource>

/** The status of a tool in its life cycle; only active tools are offered. */
export const ToolStatus = z.enum(['DRAFT', 'ACTIVE', 'DISABLED', 'DEPRECATED'])
export type ToolStatus = z.infer<typeof ToolStatus>

/** Whether a tool can be called now, or the missing requirement. */
export const ReadinessState = z.enum(['ready', 'needs-program', 'needs-credentials', 'needs-approval', 'upstream-down'])
export type ReadinessState = z.infer<typeof ReadinessState>

/** Whether a call can succeed in a state; with an approval is a way, too. */
export const isCallableIn = (state: ReadinessState): boolean => state === 'ready' || state === 'needs-approval'

/** The readiness of a tool, with the reason where it cannot be called. */
export const Readiness = z.object({
  state: ReadinessState,
  reason: z.string().optional(),
  url: z.string().optional().describe('The page where the missing credential is entered.'),
  lastSuccessAt: z.iso.datetime().optional().describe('The last successful call of the upstream by this server.'),
  p95Ms: z.number().optional().describe('The 95th percentile of the durations of its recent calls.'),
})
export type Readiness = z.infer<typeof Readiness>

/** The path of the page of a server where secrets are stored. */
export const secretsPage = '/admin?tab=secrets'

export const ready: Readiness = Object.freeze({ state: 'ready' })

/** The readiness with the URL on the server of the request; without one the path has no meaning for the caller. */
export function onServer({ url, ...readiness }: Readiness, origin: string | undefined): Readiness {
  if (url === undefined) return readiness
  if (!url.startsWith('/')) return { ...readiness, url }
  return origin === undefined ? readiness : { ...readiness, url: `${origin}${url}` }
}

/** The readiness as a field, omitted for a tool that is ready. */
export const unlessReady = (readiness: Readiness): { readonly readiness?: Readiness } =>
  readiness.state === 'ready' ? {} : { readiness }
