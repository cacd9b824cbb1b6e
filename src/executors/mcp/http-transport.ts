import { randomUUID } from 'node:crypto'
import {
  type FetchLike,
  type JSONRPCMessage,
  StreamableHTTPClientTransport,
  type Transport,
  type TransportSendOptions,
} from '@modelcontextprotocol/client'
import { Agent, fetch } from 'undici'
import { checkHost, publicLookupBut } from '../network/guard-address.ts'
import {
  bodyRefused,
  keepsMethod,
  loopRefused,
  maxRedirects,
  redirectTarget,
  safeHeaders,
} from '../network/redirect.ts'
import { boundedEvents, tooLong } from './bounded-events.ts'
import type { LineEnd, MessageCheck } from './message-check.ts'
import type { ReducedMessage } from './message-tasks.ts'
import { maxMessageHere, reduceMessage, withResult } from './message-threads.ts'

/** The URL and headers of an HTTP server, with its secrets resolved. */
export interface UpstreamAddress {
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly allowPrivate: boolean
}

const terminateMs = 1000
// Calls have deadlines of their own, and an event stream may be silent for a long time.
const agentOptions = { headersTimeout: 0, bodyTimeout: 0, maxHeaderSize: 32 * 1024, connections: 64 }

/** The transport of an HTTP server; besides the messages, only the headers of its definition are sent. */
export class HttpTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: Transport['onmessage']
  readonly hasPerRequestStream = true
  why: string | undefined
  end: LineEnd | undefined
  readonly #inner: StreamableHTTPClientTransport
  readonly #check: MessageCheck
  readonly #agent: Agent
  /** Reduced messages by the id that stands for their result. */
  readonly #reduced = new Map<string, ReducedMessage>()
  #closing: Promise<void> | undefined

  constructor({ url, headers, allowPrivate }: UpstreamAddress, check: MessageCheck) {
    const privateHost = allowPrivate ? url.hostname : undefined
    this.#agent = new Agent({ ...agentOptions, connect: { lookup: publicLookupBut(privateHost), timeout: 10_000 } })
    this.#check = check
    this.#inner = new StreamableHTTPClientTransport(url, {
      fetch: guardedFetch(this.#agent, privateHost, {
        maxBytes: check.limits.messageBytes,
        reduce: (bytes, isEvent) => this.#reduce(bytes, isEvent),
      }),
      requestInit: { headers: { 'user-agent': 'tooldex', ...headers } },
      reconnectionOptions: {
        maxRetries: 2,
        initialReconnectionDelay: 1000,
        maxReconnectionDelay: 10_000,
        reconnectionDelayGrowFactor: 2,
      },
    })
  }

  get sessionId(): string | undefined {
    return this.#inner.sessionId
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion(version)
  }

  async start(): Promise<void> {
    this.#inner.onmessage = (message) => {
      if (this.#closing === undefined && this.#check.accepts(message)) this.onmessage?.(this.#restore(message))
    }
    this.#inner.onerror = (error) => {
      if (error instanceof SyntaxError || error.name === 'ZodError') this.#check.refuse()
      this.onerror?.(error)
    }
    await this.#inner.start()
  }

  send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    this.#check.sent(message)
    if ('method' in message && 'id' in message)
      options?.requestSignal?.addEventListener('abort', () => this.#check.forget(message.id), { once: true })
    return (this.#inner as Transport).send(message, options)
  }

  /** The text of a long message without its result, which is kept until the client delivers the message. */
  async #reduce(bytes: Uint8Array<ArrayBuffer>, isEvent: boolean): Promise<string | undefined> {
    const reduced = await reduceMessage(bytes, { isEvent, maxItems: this.#check.limits.items })
    if (reduced === undefined) return undefined
    const messages = reduced.messages.map((each) => {
      if (each.result === undefined) return each.message
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
    this.#closing ??= this.#end().finally(() => this.onclose?.())
    return this.#closing
  }

  async #end(): Promise<void> {
    // Ends the session of a stateful server, without waiting long for its response.
    const terminated = this.#inner.sessionId === undefined ? undefined : this.#inner.terminateSession().catch(() => {})
    await Promise.race([terminated, new Promise((resolve) => setTimeout(resolve, terminateMs).unref())])
    await this.#inner.close()
    await this.#agent.destroy()
  }
}

/** The key of the id of a kept result. */
const keptKey = 'tooldex/kept'
/** The maximum length of a response that is not JSON, which can only be part of an error. */
const maxErrorBytes = 16 * 1024

interface MessageBounds {
  readonly maxBytes: number
  /** Replaces a long message by a short one; undefined for input that is not JSON. */
  readonly reduce: (bytes: Uint8Array<ArrayBuffer>, isEvent: boolean) => Promise<string | undefined>
}

/** Requests allowed URLs only, redirects included, and bounds each message of a response. */
function guardedFetch(dispatcher: Agent, privateHost: string | undefined, bounds: MessageBounds): FetchLike {
  const request = fetch as unknown as (url: URL, init: object) => Promise<Response>
  return async (url, init) => {
    const response = await followRedirects(new URL(url), init, async (target, options) => {
      if (target.hostname !== privateHost) checkHost(target.hostname)
      return request(target, { ...options, dispatcher, redirect: 'manual' })
    })
    if (response.body === null) return response
    const { status, statusText, headers } = response
    const isStream = /event-stream/i.test(headers.get('content-type') ?? '')
    const body = isStream ? boundedEvents(response.body, bounds) : await readBoundedBody(response.body, bounds)
    return new Response(body, { status, statusText, headers })
  }
}

type Request = (url: URL, init: RequestInit | undefined) => Promise<Response>

/** Another origin receives safe headers only, and never the body. */
async function followRedirects(first: URL, init: RequestInit | undefined, request: Request): Promise<Response> {
  let url = first
  let options = init
  for (let hop = 0; hop <= maxRedirects; hop++) {
    const response = await request(url, options)
    const location = response.headers.get('location')
    if (response.status < 300 || response.status > 399 || location === null) return response
    await response.body?.cancel()
    const to = redirectTarget(location, url)
    const headers = Object.fromEntries(new Headers(options?.headers))
    if (to.origin !== url.origin && options?.body != null) throw bodyRefused(url, to)
    const bodiless = keepsMethod(response.status) ? {} : { method: 'GET', body: null }
    options = { ...options, ...bodiless, headers: to.origin === url.origin ? headers : safeHeaders(headers) }
    url = to
  }
  throw loopRefused(first)
}

/** The body of a response that is not a stream. */
async function readBoundedBody(
  body: ReadableStream<Uint8Array>,
  { maxBytes, reduce }: MessageBounds,
): Promise<Uint8Array<ArrayBuffer> | string> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of body) {
    size += part.length
    if (size > maxBytes) throw tooLong(maxBytes)
    parts.push(part)
  }
  const bytes = Buffer.concat(parts)
  if (size <= maxMessageHere) return bytes
  const head = Buffer.from(bytes.subarray(0, maxErrorBytes))
  return (await reduce(bytes, false)) ?? head
}
