import {
  createMcpHandler,
  isLegacyRequest,
  type McpHttpHandler,
  type McpRequestContext,
  ProtocolErrorCode,
  type Server,
} from '@modelcontextprotocol/server'
import { errorTable, toTooldexError } from '../../base/errors.ts'
import type { Logger } from '../../base/logger.ts'
import type { ServerContext } from '../../operations/operation.ts'
import { createMcpServer } from './create-server.ts'
import { LegacyExchanges } from './legacy-exchanges.ts'
import { type ListMode, readMode, toolsetMode } from './list-mode.ts'
import { toolsOfContext } from './mcp-tools.ts'

/** Options of the MCP endpoint of a server. */
export interface McpEndpointOptions {
  readonly version: string
  readonly logger: Logger
}

/** One authenticated request, with its parsed body. */
export interface McpHttpRequest {
  readonly request: Request
  readonly context: ServerContext
  /** Reads the body within the limits of the server. */
  readonly readBody: () => Promise<unknown>
}

// Each open stream is a connection of the process.
const maxSubscriptions = 1000

/** MCP over HTTP: every request gets its own server object, so that nothing is shared between clients. */
export class McpEndpoint {
  readonly #options: McpEndpointOptions
  /** Changes are announced to the subscribers of one workspace only. */
  readonly #handlers = new Map<string, McpHttpHandler>()
  readonly #legacy = new LegacyExchanges()

  constructor(options: McpEndpointOptions) {
    this.#options = options
  }

  async respond({ request, context, readBody }: McpHttpRequest): Promise<Response> {
    const mode = (await toolsetMode(context)) ?? readMode(request.url)
    let body: unknown
    if (request.method === 'POST') {
      try {
        body = await readBody()
      } catch (thrown) {
        return unreadable(thrown)
      }
    }
    // The signal also ends the request when its key is revoked.
    const { url, method, headers } = request
    const exchange = new Request(url, { method, headers, ...(context.signal && { signal: context.signal }) })
    if (await isLegacyRequest(exchange, body))
      return this.#legacy.respond(exchange, { body, caller: context.caller, server: this.#createServer(context, mode) })
    const authInfo = {
      token: '',
      clientId: context.caller.actor,
      scopes: [...context.scopes],
      extra: { context, mode },
    }
    return this.#handlerOf(context).fetch(exchange, { parsedBody: body, authInfo })
  }

  /** Ends the open streams. */
  async close(): Promise<void> {
    await Promise.all([...this.#handlers.values()].map((handler) => handler.close()))
  }

  #handlerOf({ caller, catalog }: ServerContext): McpHttpHandler {
    const known = this.#handlers.get(caller.workspace)
    if (known !== undefined) return known
    const handler = createMcpHandler(({ authInfo }) => this.#serverFor(authInfo), {
      legacy: 'reject',
      maxSubscriptions,
      onerror: (error) => this.#options.logger.info(`mcp: ${error.message}`),
    })
    catalog.onChange(() => handler.notify.toolsChanged())
    this.#handlers.set(caller.workspace, handler)
    return handler
  }

  #serverFor(authInfo: McpRequestContext['authInfo']): Server {
    const { context, mode } = (authInfo?.extra ?? {}) as { context: ServerContext; mode: ListMode }
    return this.#createServer(context, mode)
  }

  #createServer(context: ServerContext, mode: ListMode): Server {
    const { version } = this.#options
    return createMcpServer({ name: 'tooldex', version, tools: toolsOfContext(context, mode, true) })
  }
}

/** The response to a body that is no message. */
function unreadable(thrown: unknown): Response {
  const { code, message, hint } = toTooldexError(thrown)
  const rpcCode = code === 'BODY_INVALID' ? ProtocolErrorCode.ParseError : ProtocolErrorCode.InvalidRequest
  const error = { code: rpcCode, message: `${message} ${hint}`.trim() }
  return Response.json({ jsonrpc: '2.0', id: null, error }, { status: errorTable[code].http })
}
