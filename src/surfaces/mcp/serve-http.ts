import {
  createMcpHandler,
  isLegacyRequest,
  type McpHttpHandler,
  McpServer,
  ProtocolErrorCode,
  type Server,
  type ServerOptions,
} from '@modelcontextprotocol/server'
import { errorTable, toTooldexError } from '../../base/errors.ts'
import { isObject } from '../../base/json-values.ts'
import type { Logger } from '../../base/logger.ts'
import { CallerSlots } from '../../base/semaphore.ts'
import type { ServerContext } from '../../operations/operation.ts'
import { type Changes, notificationStream, subscribedUris, watchResources } from './change-streams.ts'
import { CheckedServer, createMcpServer } from './create-server.ts'
import { isStream, LegacyExchanges, onceRead } from './legacy/exchanges.ts'
import { readListMode, toolsetMode } from './list-mode.ts'
import { type McpTools, toolsOfContext } from './mcp-tools.ts'
import { readResource } from './resources.ts'

/** Options of the MCP endpoint of a server. */
export interface McpEndpointOptions {
  readonly version: string
  readonly logger: Logger
  /** The URL of the server for people, if it is not the one of the request. */
  readonly origin?: string | undefined
}

/** One authenticated request, with its parsed body. */
export interface McpHttpRequest {
  readonly request: Request
  readonly context: ServerContext
  /** Reads the body within the limits of the server. */
  readonly readBody: () => Promise<unknown>
}

// Each open stream is a connection of the process.
const maxStreams = 1000
const maxStreamsEach = 50
const maxHandlers = 100

interface Subscribers {
  readonly handler: McpHttpHandler
  readonly catalog: ServerContext['catalog']
  readonly stop: () => void
}

/** MCP over HTTP: every request gets its own server object, so that nothing is shared between clients. */
export class McpEndpoint {
  readonly #options: McpEndpointOptions
  /** Changes are announced to the subscribers of one workspace only. */
  readonly #subscribers = new Map<string, Subscribers>()
  readonly #legacy = new LegacyExchanges()
  readonly #closing = new AbortController()
  readonly #streams = new CallerSlots({ total: maxStreams, perCaller: maxStreamsEach })

  constructor(options: McpEndpointOptions) {
    this.#options = options
  }

  async respond({ request, context, readBody }: McpHttpRequest): Promise<Response> {
    const mode = (await toolsetMode(context)) ?? readListMode(request.url)
    let body: unknown
    if (request.method === 'POST') {
      try {
        body = await readBody()
      } catch (thrown) {
        return unreadable(thrown)
      }
    }
    // The signal also ends the request when its key is revoked.
    const exchange = toExchange(request, body, context.signal)
    const { url } = request
    const tools = toolsOfContext(context, mode, true, this.#options.origin ?? new URL(url).origin)
    const response = await this.#exchange(exchange, { body, context, tools })
    // The stream references the request: one that is garbage-collected passes no abort on to its listeners.
    return isStream(response) ? onceRead(response, () => void exchange.signal) : response
  }

  async #exchange(exchange: Request, { body, context, tools }: Served): Promise<Response> {
    if (await isLegacyRequest(exchange, body)) return this.#respondLegacy(exchange, { body, context, tools })
    const listen = await this.#watch(exchange, { body, context, tools })
    const extra = { tools, schema: await schemaOf(tools, listen) }
    const authInfo = { token: '', clientId: context.caller.actor, scopes: [...context.scopes], extra }
    const send = () => this.#subscribersOf(context).handler.fetch(exchange, { parsedBody: listen, authInfo })
    return isSubscription(body) ? this.#subscribe(context, body.id, send) : send()
  }

  /** Opens a stream of changes in a slot of the caller. */
  async #subscribe(context: ServerContext, id: unknown, send: () => Promise<Response>): Promise<Response> {
    const leave = this.#streams.take(slotOf(context))
    if (typeof leave === 'number') return tooManyStreams(id)
    context.signal?.addEventListener('abort', leave, { once: true })
    const response = await send()
    if (isStream(response)) return onceRead(response, leave)
    leave()
    return response
  }

  /** Ends the open streams. */
  async close(): Promise<void> {
    this.#closing.abort()
    await Promise.all([...this.#subscribers.values()].map(({ handler }) => handler.close()))
  }

  #respondLegacy(request: Request, { body, context, tools }: Served): Promise<Response> {
    const openStream = (session: { readonly subscriptions?: readonly string[] | undefined }) => {
      const leave = this.#streams.take(slotOf(context))
      if (typeof leave === 'number') return tooManyStreams(null)
      const signal = AbortSignal.any([request.signal, this.#closing.signal])
      signal.addEventListener('abort', leave, { once: true })
      return notificationStream(changesOf(context, tools), session.subscriptions ?? [], signal)
    }
    const server = this.#createServer(tools)
    return this.#legacy.respond(request, { body, exchange: tools.exchange, server, openStream })
  }

  /** Watches the resources of a subscription while it is open, and leaves out those that the caller cannot read. */
  async #watch(request: Request, { body, context, tools }: Served): Promise<unknown> {
    const uris = subscribedUris(body)
    if (uris.length === 0) return body
    const readable = await Promise.all(
      uris.map((uri) =>
        readResource(tools.client, uri, { signal: request.signal }).then(
          () => [uri],
          () => [],
        ),
      ),
    )
    const signal = AbortSignal.any([request.signal, this.#closing.signal])
    const { notify } = this.#subscribersOf(context).handler
    watchResources(changesOf(context, tools), readable.flat(), (uri) => notify.resourceUpdated(uri), signal)
    return withUris(body as ListenRequest, readable.flat())
  }

  #subscribersOf({ caller, catalog }: ServerContext): Subscribers {
    const known = this.#subscribers.get(caller.workspace)
    if (known?.catalog === catalog) return known
    // The catalog of a workspace that was not used for long is opened again.
    if (known !== undefined) this.#drop(caller.workspace, known)
    const handler = createMcpHandler(
      ({ authInfo }) => {
        const { tools, schema } = (authInfo?.extra ?? {}) as { tools: McpTools; schema?: object }
        return schema === undefined ? this.#createServer(tools) : this.#createChecked(tools, schema)
      },
      {
        legacy: 'reject',
        maxSubscriptions: maxStreams,
        onerror: (error) => this.#options.logger.info(`mcp: ${error.message}`),
      },
    )
    const subscribers = { handler, catalog, stop: catalog.onChange(() => handler.notify.toolsChanged()) }
    this.#subscribers.set(caller.workspace, subscribers)
    const [oldest] = this.#subscribers
    if (oldest !== undefined && this.#subscribers.size > maxHandlers) this.#drop(...oldest)
    return subscribers
  }

  #drop(workspace: string, { handler, stop }: Subscribers): void {
    this.#subscribers.delete(workspace)
    stop()
    void handler.close().catch(() => {})
  }

  #createServer(tools: McpTools): Server {
    return createMcpServer({ name: 'tooldex', version: this.#options.version, tools })
  }

  /** A server whose handler compares the headers of parameters with the arguments of the called tool. */
  #createChecked(tools: McpTools, schema: object): McpServer {
    let checked: McpServer | undefined
    const create = (info: { name: string; version: string }, options: ServerOptions) => {
      checked = new HeaderCheckedServer(info, options)
      return checked.server
    }
    createMcpServer({ name: 'tooldex', version: this.#options.version, tools }, create)
    ;(checked as unknown as HeaderCheckedServer).schema = schema
    return checked as unknown as McpServer
  }
}

/**
 * The request under another signal. One with a parsed body is not created anew, which takes longer than a search: only its
 * method, headers and signal are read.
 */
function toExchange({ url, method, headers }: Request, body: unknown, signal: AbortSignal | undefined): Request {
  if (body === undefined || signal === undefined)
    return new Request(url, { method, headers, ...(signal && { signal }) })
  return { url, method, headers, signal } as Request
}

interface Served {
  readonly body: unknown
  readonly context: ServerContext
  readonly tools: McpTools
}

/** The SDK compares headers with the schema that this method returns. */
class HeaderCheckedServer extends McpServer {
  override readonly server: Server
  schema: object = {}

  constructor(info: { name: string; version: string }, options: ServerOptions) {
    super(info, options)
    this.server = new CheckedServer(info, options)
  }

  override toolInputSchemaJson(): Record<string, unknown> {
    return this.schema as Record<string, unknown>
  }
}

/** The input schema of a called tool that declares headers for parameters. */
async function schemaOf(tools: McpTools, body: unknown): Promise<object | undefined> {
  if (!isObject(body) || body.method !== 'tools/call' || !isObject(body.params)) return undefined
  if (!tools.mode.classic && tools.mode.pinned.length === 0) return undefined
  const schema = (await tools.find(String(body.params.name)))?.tool.inputSchema
  return schema !== undefined && JSON.stringify(schema).includes('"x-mcp-header"') ? schema : undefined
}

const changesOf = ({ catalog }: ServerContext, { client }: McpTools): Changes => ({
  client,
  onChange: (listener) => catalog.onChange(listener),
})

interface ListenRequest {
  readonly params: { readonly notifications: { readonly resourceSubscriptions?: readonly string[] } }
}

function withUris(body: ListenRequest, resourceSubscriptions: readonly string[]): unknown {
  const notifications = { ...body.params.notifications, resourceSubscriptions }
  return { ...body, params: { ...body.params, notifications } }
}

function tooManyStreams(id: unknown): Response {
  const message = 'Too many open streams. Close some, or try again later.'
  const isId = typeof id === 'string' || typeof id === 'number'
  const body = { jsonrpc: '2.0', id: isId ? id : null, error: { code: -32000, message } }
  return Response.json(body, { status: errorTable.TOO_BUSY.http, headers: { 'retry-after': '30' } })
}

/** The response to a body that is no message. */
function unreadable(thrown: unknown): Response {
  const { code, message, hint } = toTooldexError(thrown)
  const rpcCode = code === 'BODY_INVALID' ? ProtocolErrorCode.ParseError : ProtocolErrorCode.InvalidRequest
  const error = { code: rpcCode, message: `${message} ${hint}`.trim() }
  return Response.json({ jsonrpc: '2.0', id: null, error }, { status: errorTable[code].http })
}

const isSubscription = (body: unknown): body is { readonly id?: unknown } =>
  isObject(body) && body.method === 'subscriptions/listen'

const slotOf = ({ caller }: ServerContext): string => JSON.stringify([caller.workspace, caller.actor])
