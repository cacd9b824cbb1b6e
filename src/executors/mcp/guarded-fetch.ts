import type { FetchLike } from '@modelcontextprotocol/client'
import { type Agent, fetch } from 'undici'
import { checkHost } from '../network/guard-address.ts'
import {
  bodyRefused,
  keepsMethod,
  loopRefused,
  maxRedirects,
  redirectTarget,
  safeHeaders,
} from '../network/redirect.ts'
import { boundedEvents, tooLong } from './bounded-events.ts'
import { maxMessageHere } from './message-threads.ts'

/** The maximum length of a response that is not JSON, which can only be part of an error. */
const maxErrorBytes = 16 * 1024

/** The bounds of the messages of a response. */
export interface MessageBounds {
  readonly maxBytes: number
  /** Replaces a long message by a short one; undefined for input that is not JSON. */
  readonly reduce: (bytes: Uint8Array<ArrayBuffer>, isEvent: boolean) => Promise<string | undefined>
}

/** Requests allowed URLs only, redirects included, and bounds each message of a response. */
export function guardedFetch(dispatcher: Agent, privateHost: string | undefined, bounds: MessageBounds): FetchLike {
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
