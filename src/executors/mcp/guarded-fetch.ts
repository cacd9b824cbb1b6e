import { setMaxListeners } from 'node:events'
import type { Readable } from 'node:stream'
import type { FetchLike } from '@modelcontextprotocol/client'
import { type Agent, type Dispatcher, request } from 'undici'
import { TooldexError } from '../../base/errors.ts'
import { decompressors } from '../network/decompressors.ts'
import { checkHostAddress } from '../network/guard-address.ts'
import {
  bodyRefused,
  keepsMethod,
  loopRefused,
  maxRedirects,
  redirectTarget,
  safeHeaders,
} from '../network/redirect.ts'
import { maxMessageHere } from './message-threads.ts'

/** The maximum length of a response that is not JSON, which can only be part of an error. */
const maxErrorBytes = 16 * 1024

/** The bounds of the messages of a response. */
export interface MessageBounds {
  readonly maxBytes: number
  /** Replaces a long message by a short one; undefined for input that is not JSON. */
  readonly reduce: (bytes: Uint8Array<ArrayBuffer>, isEvent: boolean) => Promise<string | undefined>
  /** Called with whole events of a stream, and the id of the request that it responds to. */
  readonly onEvents: (bytes: Buffer, request: string | undefined) => void
}

/** The id of a request, for this module only; it is not sent. */
export const requestHeader = 'tooldex-request'

/** A response before its body is read. */
interface Reply {
  readonly status: number
  readonly statusText: string
  readonly headers: Headers
  readonly body: Dispatcher.ResponseData['body']
}

/** Requests allowed URLs only, redirects included, and bounds each message of a response. */
export function guardedFetch(dispatcher: Agent, privateHost: string | undefined, bounds: MessageBounds): FetchLike {
  return async (url, { headers: given, ...rest } = {}) => {
    const sent = new Headers(given)
    const request = sent.get(requestHeader) ?? undefined
    sent.delete(requestHeader)
    const init = { ...rest, headers: sent }
    const { status, statusText, headers, body } = await followRedirects(new URL(url), init, (target, options) => {
      if (target.hostname !== privateHost) checkHostAddress(target.hostname)
      return sendOnce(target, options, dispatcher)
    })
    if (bodilessStatuses.has(status)) {
      await body.dump()
      return new Response(null, { status, statusText, headers })
    }
    const isStream = /event-stream/i.test(headers.get('content-type') ?? '')
    const decoded = decompressed(body, headers)
    const content = isStream
      ? boundedEvents(decoded, {
          ...bounds,
          onEvents: (bytes) => bounds.onEvents(bytes, request),
        })
      : await readBoundedBody(decoded, bounds)
    return new Response(content, { status, statusText, headers })
  }
}

const bodilessStatuses = new Set([204, 205, 304])

/** Sends one request without `fetch`, which takes twice the CPU time for a short response; the errors are those of `fetch`. */
async function sendOnce(url: URL, init: RequestInit | undefined, dispatcher: Agent): Promise<Reply> {
  const { method = 'GET', body = null, signal = null } = init ?? {}
  const headers = { 'accept-encoding': 'gzip, deflate', ...Object.fromEntries(new Headers(init?.headers)) }
  const options = { dispatcher, method: method as Dispatcher.HttpMethod, headers, body: body as string | null, signal }
  // All requests of a connection share its signal; each removes its listener at the end of its response.
  if (signal !== null) setMaxListeners(0, signal)
  try {
    const { statusCode: status, statusText, headers: received, body: content } = await request(url, options)
    return { status, statusText, headers: toHeaders(received), body: content }
  } catch (cause) {
    if (signal?.aborted) throw cause
    throw new TypeError('fetch failed', { cause })
  }
}

/** The headers of a response, without those that no client can read. */
function toHeaders(raw: Dispatcher.ResponseData['headers']): Headers {
  const headers = new Headers()
  for (const [name, value] of Object.entries(raw))
    for (const each of [value ?? []].flat()) {
      try {
        headers.append(name, each)
      } catch {
        // The value has characters beyond those of headers.
      }
    }
  return headers
}

function decompressed(body: Readable, headers: Headers): Readable {
  const encoding = (headers.get('content-encoding') ?? '').trim().toLowerCase()
  const decompress = decompressors[encoding]
  if (decompress === null) return body
  if (decompress === undefined) {
    body.on('error', () => {}).destroy()
    throw new TypeError(`The response has an unsupported content encoding (${encoding.slice(0, 40)}).`)
  }
  const decoded = decompress()
  // A pipe passes on neither the errors of its source nor the end of its target.
  body.on('error', (error) => decoded.destroy(error))
  decoded.on('close', () => body.destroy())
  return body.pipe(decoded)
}

type Request = (url: URL, init: RequestInit | undefined) => Promise<Reply>

/** Another origin receives safe headers only, and never the body. */
async function followRedirects(first: URL, init: RequestInit | undefined, send: Request): Promise<Reply> {
  let url = first
  let options = init
  for (let hop = 0; hop <= maxRedirects; hop++) {
    const response = await send(url, options)
    const location = response.headers.get('location')
    if (response.status < 300 || response.status > 399 || location === null) return response
    await response.body.dump()
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
  body: Readable,
  { maxBytes, reduce }: MessageBounds,
): Promise<Uint8Array<ArrayBuffer> | string> {
  const parts: Buffer[] = []
  let size = 0
  for await (const part of body as AsyncIterable<Buffer>) {
    size += part.length
    if (size > maxBytes) throw tooLong(maxBytes)
    parts.push(part)
  }
  const bytes = Buffer.concat(parts)
  if (size <= maxMessageHere) return bytes
  const head = Buffer.from(bytes.subarray(0, maxErrorBytes))
  return (await reduce(bytes, false)) ?? head
}

interface EventBounds {
  readonly maxBytes: number
  /** Replaces a long event by a short one; undefined for data that is not JSON. */
  readonly reduce: (bytes: Uint8Array<ArrayBuffer>, isEvent: boolean) => Promise<string | undefined>
  /** Called with events before they are read. */
  readonly onEvents: (bytes: Buffer) => void
}

/**
 * An event stream in whole events; a long one is reduced, and one beyond the limit ends the stream. The chunks are read one by
 * one: `Readable.toWeb` throws outside of any call where a chunk arrives after the stream was cancelled.
 */
export function boundedEvents(body: Readable, bounds: EventBounds): ReadableStream<Uint8Array> {
  const chunks: AsyncIterator<Uint8Array> = body[Symbol.asyncIterator]()
  const end = () => void body.on('error', () => {}).destroy()
  let parts: Uint8Array[] = []
  let size = 0
  const take = (last: Uint8Array): Buffer<ArrayBuffer> => {
    const whole = Buffer.concat([...parts, last])
    parts = []
    size = 0
    return whole
  }
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      for (let sent = false; !sent; ) {
        const { value, done } = await chunks.next()
        if (done) {
          if (size > 0 && size <= maxMessageHere) controller.enqueue(take(Buffer.alloc(0)))
          return controller.close()
        }
        // Only the first event of a chunk can be long.
        const first = endOfEvent(parts, value, 'first')
        if (size + (first || value.length) > bounds.maxBytes) {
          end()
          throw tooLong(bounds.maxBytes)
        }
        const isLong = first > 0 && size + first > maxMessageHere
        const event = isLong ? await bounds.reduce(take(value.subarray(0, first)), true) : undefined
        if (event !== undefined) controller.enqueue(Buffer.from(event))
        const rest = isLong ? value.subarray(first) : value
        const whole = endOfEvent(parts, rest, 'last')
        if (whole > 0) {
          const events = take(rest.subarray(0, whole))
          bounds.onEvents(events)
          controller.enqueue(events)
        }
        sent = event !== undefined || whole > 0
        const tail = rest.subarray(whole)
        size += tail.length
        if (tail.length > 0) parts.push(tail)
      }
    },
    cancel: end,
  })
}

/** The error for a message beyond the limit. */
export const tooLong = (maxBytes: number): TooldexError =>
  new TooldexError('OUTPUT_LIMIT', `The response is larger than ${maxBytes} bytes.`)

// The longest of the separators \n\n, \r\r and \r\n\r\n, less one.
const overlap = 3

/** One past the first or last empty line of a chunk; 0 if there is none. It may begin at the end of the chunks before. */
function endOfEvent(before: readonly Uint8Array[], chunk: Uint8Array, which: 'first' | 'last'): number {
  const start = Buffer.concat(before.slice(-overlap)).subarray(-overlap)
  const text = Buffer.concat([start, chunk])
  const ends = ['\n\n', '\r\r', '\r\n\r\n'].flatMap((separator) => {
    const at = which === 'first' ? text.indexOf(separator) : text.lastIndexOf(separator)
    return at < 0 ? [] : [at + separator.length - start.length]
  })
  const found = ends.filter((end) => end > 0)
  return found.length === 0 ? 0 : which === 'first' ? Math.min(...found) : Math.max(...found)
}
