import {
  type FetchLike,
  type JSONRPCMessage,
  StreamableHTTPClientTransport,
  type Transport,
  type TransportSendOptions,
} from '@modelcontextprotocol/client'
import { Agent, fetch } from 'undici'
import { TooldexError } from '../../base/errors.ts'
import { checkHost, publicLookup } from '../network/guard-address.ts'
import { keepsMethod, maxRedirects, redirectTarget, refuseBody, refuseLoop, safeHeaders } from '../network/redirect.ts'
import type { LineEnd, MessageCheck } from './message-check.ts'

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
  #closing: Promise<void> | undefined

  constructor({ url, headers, allowPrivate }: UpstreamAddress, check: MessageCheck) {
    const lookup = allowPrivate ? {} : { lookup: publicLookup }
    this.#agent = new Agent({ ...agentOptions, connect: { ...lookup, timeout: 10_000 } })
    this.#check = check
    this.#inner = new StreamableHTTPClientTransport(url, {
      fetch: guardedFetch(this.#agent, allowPrivate, check.limits.messageBytes),
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
      if (this.#closing === undefined && this.#check.accepts(message)) this.onmessage?.(message)
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

/** Requests allowed URLs only, redirects included, and bounds each message of a response. */
function guardedFetch(dispatcher: Agent, allowPrivate: boolean, maxBytes: number): FetchLike {
  const request = fetch as unknown as (url: URL, init: object) => Promise<Response>
  return async (url, init) => {
    const response = await followRedirects(new URL(url), init, async (target, options) => {
      if (!allowPrivate) checkHost(target.hostname)
      return request(target, { ...options, dispatcher, redirect: 'manual' })
    })
    if (response.body === null) return response
    const { status, statusText, headers } = response
    const isStream = /event-stream/i.test(headers.get('content-type') ?? '')
    return new Response(bounded(response.body, maxBytes, isStream), { status, statusText, headers })
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
    if (to.origin !== url.origin && options?.body != null) throw refuseBody(url, to)
    const bodiless = keepsMethod(response.status) ? {} : { method: 'GET', body: null }
    options = { ...options, ...bodiless, headers: to.origin === url.origin ? headers : safeHeaders(headers) }
    url = to
  }
  throw refuseLoop(first)
}

/** A body that fails as soon as a message exceeds the limit; in an event stream, each event is counted by itself. */
function bounded(body: ReadableStream<Uint8Array>, maxBytes: number, isStream: boolean): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  let bytes = 0
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { value, done } = await reader.read()
      if (done) return controller.close()
      const end = isStream ? endOfEvent(value) : -1
      bytes = end === -1 ? bytes + value.length : value.length - end
      if (bytes > maxBytes) {
        await reader.cancel().catch(() => {})
        throw new TooldexError('OUTPUT_LIMIT', `The response is larger than ${maxBytes} bytes.`)
      }
      controller.enqueue(value)
    },
    cancel: (reason) => reader.cancel(reason),
  })
}

/** The end of the last complete event in a chunk; -1 if there is none. */
function endOfEvent(chunk: Uint8Array): number {
  const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
  return Math.max(bytes.lastIndexOf('\n\n'), bytes.lastIndexOf('\r\n\r\n'), bytes.lastIndexOf('\r\r'))
}
