import * as z from 'zod'
import { TimeoutMs } from '../read-config.ts'

const Text = z.string().max(32_000)
const Texts = z.record(z.string().min(1).max(200), Text)

const shared = {
  /** How long a call may take that says nothing about it. */
  timeoutMs: TimeoutMs.optional(),
  /** How long the server may take to start and to say who it is. */
  connectTimeoutMs: z.int().min(100).max(300_000).default(30_000),
  /** After how long without calls the server is stopped. */
  idleMs: z.int().min(100).max(86_400_000).default(300_000),
}

/** A server that is a program of this machine, spoken to through its standard input and output. */
const StdioServer = z.object({
  type: z.literal('stdio').default('stdio'),
  command: Text.min(1),
  args: z.array(Text).max(1000).default([]),
  env: Texts.default({}),
  cwd: Text.optional(),
  ...shared,
})

/** A server that is asked over HTTP. */
const HttpServer = z.object({
  type: z.enum(['http', 'streamable-http', 'streamableHttp']).default('http'),
  url: z.url({ protocol: /^https?$/, error: 'must be an address of http or https' }).max(8000),
  headers: Texts.default({}),
  /** Whether it may be at an address that is not on the internet. */
  allowPrivate: z.boolean().default(false),
  ...shared,
})

/** One upstream MCP server, in the shape that clients write; keys of other clients are left alone. */
export type McpServer = z.infer<typeof StdioServer> | z.infer<typeof HttpServer>
export type StdioServer = z.infer<typeof StdioServer>
export type HttpServer = z.infer<typeof HttpServer>

/** What a definition is read with, told by what it has. */
export function schemaFor(definition: unknown): z.ZodType<McpServer> {
  const { command, type } = (definition ?? {}) as { command?: unknown; type?: unknown }
  return command !== undefined || type === 'stdio' ? StdioServer : HttpServer
}

export const isStdio = (server: McpServer): server is StdioServer => 'command' in server

const reference =
  /^(?:(Bearer|Basic|Token) )?(secret:[A-Za-z0-9_.-]{1,100}|env:[A-Za-z_][A-Za-z0-9_]*|file:[^\0\r\n]+)$/

/** The reference to a secret in a value, and what stands before it; undefined where the value is meant as it is. */
export function findReference(value: string): { readonly before: string; readonly reference: string } | undefined {
  const [, scheme, found] = reference.exec(value) ?? []
  return found === undefined ? undefined : { before: scheme === undefined ? '' : `${scheme} `, reference: found }
}
