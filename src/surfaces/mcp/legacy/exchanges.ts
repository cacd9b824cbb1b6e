import {
  type InitializeRequestParams,
  type JSONRPCMessage,
  ProtocolErrorCode,
  type Server,
  type Transport,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import type { Caller } from '../../../contract/stores.ts'
import type { ClientExchange } from '../client-rounds.ts'
import { metaToolsThatRead } from '../meta-tools.ts'
import { ClientRequests, isReply } from './client-requests.ts'
import { type Session, Sessions } from './sessions.ts'

const sessionHeader = 'mcp-session-id'

/** One request of a client, with the server object that responds to it. */
interface LegacyRequest {
  readonly body: unknown
  readonly exchange: ClientExchange
  readonly server: Server
  /** Opens the stream of notifications of a session. */
  readonly openStream: (session: Session) => Response
}

interface Message {
  readonly method?: string
  readonly id?: string | number
  readonly params?: {
    readonly requestId?: string | number
    readonly name?: unknown
    readonly level?: unknown
    readonly uri?: unknown
    readonly _meta?: { readonly progressToken?: unknown }
  }
}

/** Serves the revisions before 2026-07-28: one server object for each request, and sessions that every replica knows. */
export class LegacyExchanges {
  readonly #running = new Map<string, () => void>()
  readonly #sessions = new Sessions()
  readonly #requests = new ClientRequests()

  async respond(request: Request, legacy: LegacyRequest): Promise<Response> {
    const { exchange, body } = legacy
    const id = request.headers.get(sessionHeader)
    const messages = (Array.isArray(body) ? body : [body]) as readonly (Message | null)[]
    const begins = messages.some((message) => message?.method === 'initialize')
    const session = id === null || begins ? undefined : await this.#sessions.find(exchange, id)
    if (id !== null && session === undefined && !begins)
      return refusal(404, 'The session is unknown or has ended. Begin anew with initialize.')
    const scope = scopeOf(exchange.caller, id ?? '')
    if (request.method === 'DELETE') return this.#end(exchange, id, scope)
    if (request.method === 'GET' && session !== undefined) return legacy.openStream(session)
    if (request.method === 'GET') return refusal(400, 'Mcp-Session-Id is required for a stream. Begin with initialize.')
    if (request.method !== 'POST') return new Response(null, { status: 405, headers: { allow: 'GET, POST, DELETE' } })
    const [only] = messages
    if (messages.length === 1 && isReply(only)) {
      await this.#requests.accept(only, exchange)
      return new Response(null, { status: 202 })
    }
    for (const message of messages)
      if (message?.method === 'notifications/cancelled') this.#running.get(scope + message.params?.requestId)?.()
    const response = await this.#answer(request, { ...legacy, messages, session, scope })
    if (id !== null && session !== undefined && response.ok) await this.#note(exchange, id, session, only)
    if (begins && response.ok)
      response.headers.set(sessionHeader, await this.#sessions.begin(exchange, toSession(messages)))
    return response
  }

  async #answer(request: Request, exchange: AnsweredRequest): Promise<Response> {
    const { body, server, messages, session, scope } = exchange
    const cancelled = new AbortController()
    const ids = messages.flatMap((message) =>
      message?.method === undefined || message.id === undefined ? [] : [scope + message.id],
    )
    for (const id of ids) this.#running.set(id, () => cancelled.abort(new CancelledRequest()))
    const ending = AbortSignal.any([request.signal, cancelled.signal])
    const ended = new AbortController()
    const finish = () => {
      for (const id of ids) this.#running.delete(id)
      ended.abort()
      void server.close().catch(() => {})
    }
    const enableJsonResponse = !messages.some((message) => needsStream(message, session))
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse })
    await server.connect(transport)
    this.#requests.relay(transport, exchange.exchange, ended.signal)
    if (session !== undefined) await replay(transport, session)
    // Closing the server cancels its calls.
    ending.addEventListener('abort', finish, { once: true })
    try {
      const response = await unless(ending, transport.handleRequest(request, { parsedBody: body }))
      if (isStream(response)) return onceRead(response, finish)
      finish()
      return response
    } catch (thrown) {
      finish()
      if (thrown instanceof CancelledRequest) return new Response(null, { status: 202 })
      throw thrown
    }
  }

  /** Stores what a client sets for its session. */
  async #note(
    exchange: ClientExchange,
    id: string,
    session: Session,
    message: Message | null | undefined,
  ): Promise<void> {
    const { method, params = {} } = message ?? {}
    const { subscriptions = [] } = session
    const uri = String(params.uri)
    if (method === 'logging/setLevel')
      await this.#sessions.change(exchange, id, { ...session, logLevel: params.level as Session['logLevel'] })
    else if (method === 'resources/subscribe' && !subscriptions.includes(uri))
      await this.#sessions.change(exchange, id, {
        ...session,
        subscriptions: [...subscriptions, uri].slice(-maxSubscriptions),
      })
    else if (method === 'resources/unsubscribe')
      await this.#sessions.change(exchange, id, {
        ...session,
        subscriptions: subscriptions.filter((each) => each !== uri),
      })
  }

  /** Ends a session and cancels what it still runs here. */
  async #end(exchange: ClientExchange, id: string | null, scope: string): Promise<Response> {
    if (id === null) return refusal(400, 'Mcp-Session-Id is required to end a session.')
    await this.#sessions.end(exchange, id)
    for (const [running, cancel] of this.#running) if (running.startsWith(scope)) cancel()
    return new Response(null, { status: 204 })
  }
}

interface AnsweredRequest extends LegacyRequest {
  readonly messages: readonly (Message | null)[]
  readonly session: Session | undefined
  readonly scope: string
}

const maxSubscriptions = 20

/** The client has cancelled its request and expects no response. */
class CancelledRequest extends Error {}

/** As JSON, so that no name of a caller or a session continues as another one. */
const scopeOf = ({ workspace, actor }: Caller, session: string): string =>
  `${JSON.stringify([workspace, actor, session])} `

function toSession(messages: readonly (Message | null)[]): Session {
  const begin = messages.find((message) => message?.method === 'initialize')
  const { protocolVersion, capabilities = {}, clientInfo } = (begin?.params ?? {}) as InitializeRequestParams
  return { protocolVersion, capabilities, clientInfo }
}

const setUp = 'tooldex-'

/** Puts a new server object into the state of the session, as if it had received the earlier requests of the client. */
async function replay(transport: Transport, { logLevel, subscriptions: _, ...params }: Session): Promise<void> {
  const requests: JSONRPCMessage[] = [{ jsonrpc: '2.0', id: `${setUp}0`, method: 'initialize', params }]
  if (logLevel !== undefined)
    requests.push({ jsonrpc: '2.0', id: `${setUp}1`, method: 'logging/setLevel', params: { level: logLevel } })
  const send = transport.send.bind(transport)
  for (const request of requests) {
    const answered = new Promise<void>((resolve) => {
      transport.send = async (message, options) => {
        if ('id' in message && message.id === (request as { id: string }).id) return resolve()
        return send(message, options)
      }
    })
    transport.onmessage?.(request)
    await answered
  }
  transport.send = send
}

/** Whether messages may precede the response to a request; without them a plain response is cheaper. */
function needsStream(message: Message | null, session: Session | undefined): boolean {
  const { method, params = {} } = message ?? {}
  if (params._meta?.progressToken !== undefined) return true
  if (method !== 'tools/call' && method !== 'prompts/get' && method !== 'resources/read') return false
  const { elicitation, sampling, roots } = session?.capabilities ?? {}
  const canBeAsked = [elicitation, sampling, roots].some((capability) => capability !== undefined)
  const hasLog = session?.logLevel !== undefined && method === 'tools/call'
  return (canBeAsked || hasLog) && !metaToolsThatRead.has(String(params.name))
}

export const isStream = ({ headers }: Response): boolean => headers.get('content-type') === 'text/event-stream'

/** Waits for a result until the signal is aborted. */
function unless<Result>(signal: AbortSignal, result: Promise<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    result.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}

/** The response with a callback at the end of its stream. */
export function onceRead(response: Response, done: () => void): Response {
  const { status, headers, body } = response
  return new Response(body?.pipeThrough(new TransformStream({ flush: done })) ?? null, { status, headers })
}

const refusal = (status: number, message: string): Response =>
  Response.json({ jsonrpc: '2.0', id: null, error: { code: ProtocolErrorCode.InvalidRequest, message } }, { status })
