import { randomUUID } from 'node:crypto'
import {
  type FetchLike,
  type JSONRPCMessage,
  SdkErrorCode,
  SdkHttpError,
  SSEClientTransport,
  SseError,
  StreamableHTTPClientTransport,
  type Transport,
  type TransportSendOptions,
} from '@modelcontextprotocol/client'
import { Agent } from 'undici'
import { publicLookupBut } from '../network/guard-address.ts'
import { guardedFetch, requestHeader } from './guarded-fetch.ts'
import { type LineEnd, type MessageCheck, PacedDelivery } from './message-check.ts'
import { type ReducedMessage, readEvent } from './message-tasks.ts'
import { reduceMessage, withResult } from './message-threads.ts'
import type { TokenSource } from './token-source.ts'

/** The URL and headers of an HTTP server, with its secrets resolved. */
export interface UpstreamAddress {
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly allowPrivate: boolean
  /** The older transport, with one event stream for all responses. */
  readonly isSse?: boolean | undefined
  /** The tokens of a sign-in, for a server that asks for one. */
  readonly tokens?: TokenSource | undefined
}

const terminateMs = 1000
const reconnectionOptions = {
  maxRetries: 2,
  initialReconnectionDelay: 1000,
  maxReconnectionDelay: 10_000,
  reconnectionDelayGrowFactor: 2,
}
// Calls have deadlines of their own, and an event stream may be silent for a long time.
const agentOptions = { headersTimeout: 0, bodyTimeout: 0, maxHeaderSize: 32 * 1024, connections: 64 }

/** The transport of an HTTP server; besides the messages, only the headers of its definition are sent. */
export class HttpTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: Transport['onmessage']
  readonly hasPerRequestStream: boolean
  why: string | undefined
  end: LineEnd | undefined
  readonly #inner: StreamableHTTPClientTransport | SSEClientTransport
  readonly #check: MessageCheck
  readonly #agent: Agent
  /** Reduced messages by the id that stands for their result. */
  readonly #reduced = new Map<string, ReducedMessage>()
  readonly #delivery = new PacedDelivery((message) => this.onmessage?.(message))
  #closing: Promise<void> | undefined
  #stopStart: ((error: Error) => void) | undefined

  constructor({ url, headers, allowPrivate, isSse = false, tokens }: UpstreamAddress, check: MessageCheck) {
    const privateHost = allowPrivate ? url.hostname : undefined
    this.#agent = new Agent({ ...agentOptions, connect: { lookup: publicLookupBut(privateHost), timeout: 10_000 } })
    this.#check = check
    this.hasPerRequestStream = !isSse
    const guarded = guardedFetch(this.#agent, privateHost, {
      maxBytes: check.limits.messageBytes,
      reduce: (bytes, isEvent) => this.#reduce(bytes, isEvent),
      onEvents: (bytes, request) => this.#takeLogs(bytes, request),
    })
    const fetch: typeof guarded = tokens === undefined ? guarded : notingTokens(guarded, tokens)
    const requestInit = { headers: { 'user-agent': 'tooldex', ...headers } }
    const options = { requestInit, ...(tokens === undefined ? {} : { authProvider: tokens }) }
    this.#inner = isSse
      ? new SSEClientTransport(url, { ...options, fetch: failingPosts(fetch) })
      : new StreamableHTTPClientTransport(url, { ...options, fetch, reconnectionOptions })
  }

  get sessionId(): string | undefined {
    return 'sessionId' in this.#inner ? this.#inner.sessionId : undefined
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion(version)
  }

  async start(): Promise<void> {
    this.#inner.onmessage = (message) => {
      if (this.#closing === undefined && this.#check.accepts(message)) this.#delivery.push(this.#restore(message))
    }
    this.#inner.onerror = (error) => {
      if (error instanceof SyntaxError || error.name === 'ZodError') this.#check.refuse()
      this.onerror?.(error)
      // The event source would connect again, to a new session that knows nothing of this one.
      if (isStarted && error instanceof SseError) this.fail('closed its event stream')
    }
    let isStarted = false
    // An event stream that names no URL for messages would be waited for without end.
    const stopped = new Promise<never>((_resolve, reject) => {
      this.#stopStart = reject
    })
    await Promise.race([this.#inner.start(), stopped]).catch((error: unknown) => {
      throw sseError(error)
    })
    isStarted = true
  }

  send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    this.#check.sent(message)
    if ('method' in message && 'id' in message)
      options?.requestSignal?.addEventListener('abort', () => this.#check.forget(message.id), { once: true })
    const headers = 'method' in message && 'id' in message ? { [requestHeader]: String(message.id) } : {}
    return (this.#inner as Transport).send(message, { ...options, headers: { ...options?.headers, ...headers } })
  }

  /** Passes on the log messages of a stream; only here it is known which request the stream belongs to. */
  #takeLogs(bytes: Buffer, request: string | undefined): void {
    if (!bytes.includes('notifications/message')) return
    for (const event of bytes.toString('utf8').split(/\r\n\r\n|\n\n|\r\r/))
      this.#check.takeLog(readEvent(event).data, this.hasPerRequestStream ? request : undefined)
  }

  /** The text of a long message without its result, which is kept until the client delivers the message. */
  async #reduce(bytes: Uint8Array<ArrayBuffer>, isEvent: boolean): Promise<string | undefined> {
    const reduced = await reduceMessage(bytes, { isEvent, maxItems: this.#check.limits.items })
    if (reduced === undefined) return undefined
    const messages = reduced.messages.map((each) => {
      if (each.result === undefined && each.items === undefined) return each.message
      const key = randomUUID()
      this.#reduced.set(key, each)
      return { ...each.message, result: { ...(each.message.result as object), _meta: { [keptKey]: key } } }
    })
    const json = JSON.stringify(messages.length === 1 ? messages[0] : messages)
    return isEvent ? `${reduced.fields}data: ${json}\n\n` : json
  }

  #restore(message: JSONRPCMessage): JSONRPCMessage {
    const key = 'result' in message ? message.result._meta?.[keptKey] : undefined
    const kept = typeof key === 'string' ? this.#reduced.get(key) : undefined
    if (kept === undefined) return message
    this.#reduced.delete(key as string)
    return withResult(kept) as JSONRPCMessage
  }

  /** Closes the connection to a misbehaving server. */
  fail(why: string): void {
    this.end ??= 'failed'
    this.why ??= why
    void this.close()
  }

  close(): Promise<void> {
    this.#stopStart?.(new Error('The connection was closed.'))
    this.#closing ??= this.#end().finally(() => this.onclose?.())
    return this.#closing
  }

  async #end(): Promise<void> {
    // Ends the session of a stateful server, without waiting long for its response.
    const inner = this.#inner
    const terminated =
      this.sessionId === undefined || inner instanceof SSEClientTransport
        ? undefined
        : inner.terminateSession().catch(() => {})
    await Promise.race([terminated, new Promise((resolve) => setTimeout(resolve, terminateMs).unref())])
    await inner.close()
    await this.#agent.destroy()
  }
}

const notingTokens =
  (fetch: FetchLike, tokens: TokenSource): FetchLike =>
  async (url, init) => {
    const response = await fetch(url, init)
    await tokens.note(response, init?.headers)
    return response
  }

/** The key of the id of a kept result. */
const keptKey = 'tooldex/kept'

/** An error of the event stream with the HTTP status, as those of the newer transport have it. */
export function sseError(error: unknown): unknown {
  const status = error instanceof SseError ? error.code : undefined
  return status === undefined ? error : httpError(status, error)
}

/** Rejects messages that the server does not accept, with the HTTP status; the client would quote the response. */
export const failingPosts =
  (send: FetchLike): FetchLike =>
  async (url, init) => {
    const response = await send(url, init)
    if (init?.method !== 'POST' || response.ok) return response
    await response.body?.cancel()
    throw httpError(response.status)
  }

const httpError = (status: number, cause?: unknown): SdkHttpError =>
  new SdkHttpError(SdkErrorCode.ClientHttpNotImplemented, `HTTP ${status}`, { status, statusText: '' }, { cause })
