import * as z from 'zod'
import { defineConfigCheck, TimeoutMs, WorkerLabel } from '../read-config.ts'

/** The server and the tool that an MCP tool refers to. */
export const McpConfig = z.strictObject({
  server: z.string().trim().min(1).max(200),
  tool: z.string().trim().min(1).max(200),
  timeoutMs: TimeoutMs.optional(),
  worker: WorkerLabel.optional(),
})
export type McpConfig = z.infer<typeof McpConfig>

/** Validates the config of an MCP tool. */
export const checkMcpConfig = defineConfigCheck(McpConfig, () => [])
