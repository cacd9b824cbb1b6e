import { setTimeout as sleep } from 'node:timers/promises'
import type { Dispatcher } from 'undici'
import { TooldexError } from '../../base/errors.ts'
import type { Deadline } from '../network/deadline.ts'
import { checkHost } from '../network/guard-address.ts'
import { keepsMethod, maxRedirects, redirectTarget, refuseBody, refuseLoop, safeHeaders } from '../network/redirect.ts'
import type { BuiltRequest } from './build-request.ts'
import { readResponseBody } from './read-body.ts'

/** An answer, read to its end. */
export interface HttpResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
  readonly url: URL
}

/** How requests are sent. */
export interface SendOptions {
  readonly dispatcher: Dispatcher
  readonly allowPrivate: boolean
  /** Headers that only the first host receives. */
  readonly secretHeaders: Readonly<Record<string, string>>
  readonly maxBytes: number
  readonly deadline: Deadline
  readonly note: (line: string) => void
}

const tries = 3
const retriedStatus = new Set([429, 502, 503, 504])
const safeMethods = new Set(['GET', 'HEAD', 'PUT', 'DELETE'])

/** Sends a request; one that may be sent twice is, when the other side is away for a moment. */
export async function send(built: BuiltRequest, options: SendOptions): Promise<HttpResponse> {
  for (let attempt = 1; ; attempt++) {
    const last = attempt === tries || !safeMethods.has(built.method)
    try {
      const answer = await follow(built, options)
      if (last || !retriedStatus.has(answer.status)) return answer
      await sleep(pauseAfter(answer, attempt), undefined, { signal: options.deadline.signal })
    } catch (error) {
      if (last || options.deadline.aborted || error instanceof TooldexError) throw error
      await sleep(100 * 2 ** attempt, undefined, { signal: options.deadline.signal })
    }
  }
}

function pauseAfter({ headers }: HttpResponse, attempt: number): number {
  const asked = Number(headers['retry-after'])
  return Number.isFinite(asked) && asked > 0 ? Math.min(asked * 1000, 10_000) : 100 * 2 ** attempt
}

/** Follows redirects and checks each URL; another origin receives no header but safe ones. */
async function follow(built: BuiltRequest, options: SendOptions): Promise<HttpResponse> {
  let next = built
  let secrets = options.secretHeaders
  for (let hop = 0; hop <= maxRedirects; hop++) {
    if (!options.allowPrivate) checkHost(next.url.hostname)
    const answer = await once(next, secrets, options)
    const location = answer.headers.location
    if (answer.status < 300 || answer.status > 399 || typeof location !== 'string') return answer
    const to = redirectTarget(location, next.url)
    if (to.origin !== next.url.origin) {
      secrets = {}
      if (next.body !== null && keepsMethod(answer.status)) throw refuseBody(next.url, to)
    }
    next = redirected(next, to, answer.status)
  }
  throw refuseLoop(built.url)
}

function redirected(request: BuiltRequest, url: URL, status: number): BuiltRequest {
  const headers = url.origin === request.url.origin ? request.headers : safeHeaders(request.headers)
  if (keepsMethod(status) || request.method === 'GET' || request.method === 'HEAD') return { ...request, url, headers }
  const { 'content-type': _type, ...bodiless } = headers
  return { method: 'GET', url, headers: bodiless, body: null }
}

async function once(
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
