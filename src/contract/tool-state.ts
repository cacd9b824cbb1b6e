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

/** The readiness of a tool, with the reason where it cannot be called. */
export const Readiness = z.object({ state: ReadinessState, reason: z.string().optional() })
export type Readiness = z.infer<typeof Readiness>

export const ready: Readiness = Object.freeze({ state: 'ready' })

/** The readiness as a field, omitted for a tool that is ready. */
export const unlessReady = (readiness: Readiness): { readonly readiness?: Readiness } =>
  readiness.state === 'ready' ? {} : { readiness }
