import * as z from 'zod'
import type { CallerInput, RequestedInput } from './executor.ts'
import { TimeoutMs } from './executor-kinds.ts'
import { OAuthSource } from './sign-in.ts'

const Text = z.string().max(32_000)
const Texts = z.record(z.string().min(1).max(200), Text)

const shared = {
  /** The timeout of calls that set none. */
  timeoutMs: TimeoutMs.optional(),
  /** The timeout of the start and the handshake. */
  connectTimeoutMs: z.int().min(100).max(300_000).default(30_000),
  /** The time without calls after which the server is stopped. */
  idleMs: z.int().min(100).max(86_400_000).default(300_000),
  /** Whether MCP clients are offered its prompts and resources, too. */
  passThrough: z.boolean().default(true),
  /** The requests of the server that are passed to the client of a call, if it can answer them; all others are refused. */
  clientRequests: z
    .array(z.enum(['elicitation', 'sampling', 'roots']))
    .max(3)
    .default([]),
  /** The prefix of its prompts and resources; the name of the server by default, none if empty. */
  namespace: z
    .string()
    .max(100)
    .regex(/^([A-Za-z][A-Za-z0-9.-]*)?$/, 'must begin with a letter and contain letters, digits, "." and "-" only')
    .optional(),
}

/** A server that runs as a local program and communicates over stdin and stdout. */
export const StdioServer = z.object({
  type: z.literal('stdio').default('stdio'),
  command: Text.min(1),
  args: z.array(Text).max(1000).default([]),
  env: Texts.default({}),
  cwd: Text.optional(),
  /** The sandbox of the program; without it, folders and network, the program has the rights of the server's user. */
  isolation: z.enum(['isolated', 'confined', 'limited']).optional(),
  /** Folders of the machine that are visible in the sandbox, each with `:ro` (the default) or `:rw`. */
  folders: z.array(Text.min(1)).max(100).optional(),
  /** Whether the sandbox has the network of the machine. */
  network: z.boolean().optional(),
  ...shared,
})

/** A server that is called over HTTP. */
export const HttpServer = z.object({
  /** `sse` is the older transport; a server that does not know the newer one is found out at the first start. */
  type: z.enum(['http', 'streamable-http', 'streamableHttp', 'sse']).default('http'),
  url: z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }).max(8000),
  headers: Texts.default({}),
  /** Whether the server may have a private address. */
  allowPrivate: z.boolean().default(false),
  /** The sign-in at the server; of stored sources only. */
  oauth: OAuthSource.optional(),
  ...shared,
})

/** The sandbox of a program; the best of the machine where its definition names none. Undefined for one without a sandbox. */
export function sandboxOfServer(server: McpServer): 'isolated' | 'confined' | 'best' | undefined {
  if (!('command' in server) || server.isolation === 'limited') return undefined
  return server.isolation ?? (server.folders === undefined && server.network === undefined ? undefined : 'best')
}

/** The definition of an upstream MCP server in the format of MCP clients; unknown keys are ignored. */
export type McpServer = z.infer<typeof StdioServer> | z.infer<typeof HttpServer>
/** A definition as a program passes it: fields with a default are optional. */
export type McpServerInput = z.input<typeof StdioServer> | z.input<typeof HttpServer>
export type StdioServer = z.infer<typeof StdioServer>
export type HttpServer = z.infer<typeof HttpServer>

/** The requests of clients that are passed to an upstream. */
export type OfferMethod =
  | 'prompts/list'
  | 'prompts/get'
  | 'resources/list'
  | 'resources/templates/list'
  | 'resources/read'
  | 'completion/complete'

/** A request that is passed to an upstream. */
export interface UpstreamRequest {
  readonly params: Readonly<Record<string, unknown>>
  readonly signal: AbortSignal
  readonly traceparent?: string | undefined
  readonly callerInput?: CallerInput | undefined
  /** The caller, to whom log messages of this request may belong. */
  readonly caller?: string | undefined
  /** Whether the upstream is started for it; default true. */
  readonly mayStart?: boolean | undefined
}

/** A result in the form of MCP, or the input that the upstream requests first. */
export type OfferResult = Readonly<Record<string, unknown>> | RequestedInput

/** An upstream whose prompts and resources are offered to clients. */
export interface UpstreamServer {
  readonly name: string
  /** The prefix of its prompts and resources; empty if their names are passed on unchanged. */
  readonly namespace: string
}

/** The upstreams of this machine, which offer prompts and resources beside their tools. */
export interface UpstreamOffers {
  /** The upstreams in the order of their names. */
  servers(): readonly UpstreamServer[]
  /** Sends a request; undefined if the upstream is unknown or does not offer what was requested. */
  request(server: string, method: OfferMethod, request: UpstreamRequest): Promise<OfferResult | undefined>
}
