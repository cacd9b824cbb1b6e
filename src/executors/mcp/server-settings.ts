import * as z from 'zod'
import { TimeoutMs } from '../../contract/executor-kinds.ts'
import { HttpServer, type McpServer, StdioServer } from '../../contract/mcp-server.ts'
import type { SecretScope } from '../../contract/secret.ts'
import { findSecretReference } from '../../rules/server-definition.ts'
import { defineConfigCheck, WorkerLabel } from '../read-config.ts'

/** The schema of a definition, chosen by its fields. */
export function schemaFor(definition: unknown): z.ZodType<McpServer> {
  const { command, type } = (definition ?? {}) as { command?: unknown; type?: unknown }
  return command !== undefined || type === 'stdio' ? StdioServer : HttpServer
}

export const isStdio = (server: McpServer): server is StdioServer => 'command' in server

/** The values of variables or headers; secrets are resolved when a server is started, and never stored. */
export async function resolveValues(
  values: Readonly<Record<string, string>>,
  secrets: Pick<SecretScope, 'resolve'>,
): Promise<Record<string, string>> {
  const resolved = Object.entries(values).map(async ([name, value]) => {
    const found = findSecretReference(value)
    return [name, found === undefined ? value : found.before + (await secrets.resolve(found.reference))] as const
  })
  return Object.fromEntries(await Promise.all(resolved))
}

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
