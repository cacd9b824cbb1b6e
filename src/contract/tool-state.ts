import * as z from 'zod'

/** Where a tool comes from: a config, the database, an MCP server, an OpenAPI document, or a program's own functions. */
export const ToolSource = z.enum(['cli', 'registry', 'mcp', 'openapi', 'code'])
export type ToolSource = z.infer<typeof ToolSource>

/** Where a tool is in its life; only active ones are offered. */
export const ToolStatus = z.enum(['DRAFT', 'ACTIVE', 'DISABLED', 'DEPRECATED'])
export type ToolStatus = z.infer<typeof ToolStatus>

/** Whether a tool can be called now, or what it waits for. */
export const ReadinessState = z.enum(['ready', 'needs-program', 'needs-credentials', 'needs-approval', 'upstream-down'])
export type ReadinessState = z.infer<typeof ReadinessState>

/** Whether a tool can be called now, and where it cannot, why. */
export const Readiness = z.object({ state: ReadinessState, reason: z.string().optional() })
export type Readiness = z.infer<typeof Readiness>

/** A tool that can be called. */
export const ready: Readiness = Object.freeze({ state: 'ready' })

/** The readiness as a field, for answers that say only what stands in the way. */
export const unlessReady = (readiness: Readiness): { readonly readiness?: Readiness } =>
  readiness.state === 'ready' ? {} : { readiness }
