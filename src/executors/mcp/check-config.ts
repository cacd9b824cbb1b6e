import * as z from 'zod'
import { defineConfigCheck, TimeoutMs, WorkerLabel } from '../read-config.ts'

/** Which tool of which MCP server is meant. */
export const McpConfig = z.strictObject({
  server: z.string().trim().min(1).max(200),
  tool: z.string().trim().min(1).max(200),
  timeoutMs: TimeoutMs.optional(),
  worker: WorkerLabel.optional(),
})
export type McpConfig = z.infer<typeof McpConfig>

/** What is wrong with the config of a tool of an MCP server. */
export const checkMcpConfig = defineConfigCheck(McpConfig, () => [])
