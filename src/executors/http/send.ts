import { setTimeout as sleep } from 'node:timers/promises'
import type { Dispatcher } from 'undici'
import { TooldexError } from '../../base/errors.ts'
import type { Deadline } from '../network/deadline.ts'
import { checkHost } from '../network/guard-address.ts'
import {
  bodyRefused,
  keepsMethod,
  loopRefused,
  maxRedirects,
  redirectTarget,
  safeHeaders,
} from '../network/redirect.ts'
import type { BuiltRequest } from './build-request.ts'
import { readResponseBody } from './read-body.ts'

/** A response with its complete body. */
export interface HttpResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
  readonly url: URL
}

/** The client, limits and secret headers of a request. */
export interface SendOptions {
  readonly dispatcher: Dispatcher
  readonly allowPrivate: boolean
  /** Headers that only the first host receives. */
  readonly secretHeaders: Readonly<Record<string, string>>
  readonly maxBytes: number
  readonly deadline: Deadline
  readonly note: (line: string) => void
}

const maxAttempts = 3
const retriedStatuses = new Set([429, 502, 503, 504])
const idempotentMethods = new Set(['GET', 'HEAD', 'PUT', 'DELETE'])

/** Sends a request; idempotent methods are retried after connection errors and temporary failures. */
export async function send(built: BuiltRequest, options: SendOptions): Promise<HttpResponse> {
  for (let attempt = 1; ; attempt++) {
    const last = attempt === maxAttempts || !idempotentMethods.has(built.method)
    try {
      const response = await follow(built, options)
      if (last || !retriedStatuses.has(response.status)) return response
      await sleep(retryDelay(response, attempt), undefined, { signal: options.deadline.signal })
    } catch (error) {
      if (last || options.deadline.aborted || error instanceof TooldexError) throw error
      await sleep(100 * 2 ** attempt, undefined, { signal: options.deadline.signal })
    }
  }
}

function retryDelay({ headers }: HttpResponse, attempt: number): number {
  const retryAfter = Number(headers['retry-after'])
  return Number.isFinite(retryAfter) && retryAfter > 0 ? Math.min(retryAfter * 1000, 10_000) : 100 * 2 ** attempt
}

/** Follows redirects and checks each URL; another origin receives safe headers only. */
async function follow(built: BuiltRequest, options: SendOptions): Promise<HttpResponse> {
  let next = built
  let secrets = options.secretHeaders
  for (let hop = 0; hop <= maxRedirects; hop++) {
    if (!options.allowPrivate) checkHost(next.url.hostname)
    const response = await sendOnce(next, secrets, options)
    const location = response.headers.location
    if (response.status < 300 || response.status > 399 || typeof location !== 'string') return response
    const to = redirectTarget(location, next.url)
    if (to.origin !== next.url.origin) {
      secrets = {}
      if (next.body !== null && keepsMethod(response.status)) throw bodyRefused(next.url, to)
    }
    next = redirected(next, to, response.status)
  }
  throw loopRefused(built.url)
}

function redirected(request: BuiltRequest, url: URL, status: number): BuiltRequest {
  const headers = url.origin === request.url.origin ? request.headers : safeHeaders(request.headers)
  if (keepsMethod(status) || request.method === 'GET' || request.method === 'HEAD') return { ...request, url, headers }
  const { 'content-type': _type, ...bodiless } = headers
  return { method: 'GET', url, headers: bodiless, body: null }
}

async function sendOnce(
  built: BuiltRequest,
  secrets: SendOptions['secretHeaders'],
  options: SendOptions,
): Promise<HttpResponse> {
  const { method, url, headers, body } = built
  const started = performance.now()
  const response = await options.dispatcher.request({
    origin: url.origin,
    path: `${url.pathname}${url.search}`,
    method,
    headers: { 'accept-encoding': 'gzip, br', 'user-agent': 'tooldex', ...headers, ...secrets },
    body,
    signal: options.deadline,
  })
  const { statusCode: status } = response
  const text = await readResponseBody(response, options.maxBytes, options.deadline)
  options.note(`${method} ${url.origin}${url.pathname} ${status} (${Math.round(performance.now() - started)} ms)\n`)
  return { status, headers: response.headers, text, url }
}
