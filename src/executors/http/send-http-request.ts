import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Dispatcher } from 'undici'
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
import type { Deadline } from '../network/run-remote.ts'
import type { BuiltRequest } from './build-request.ts'
import { noSecrets, type RequestSecrets } from './build-request.ts'

/** A response with its complete body. */
export interface HttpResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly bytes: Buffer
  readonly url: URL
}

/** The clients of requests to public addresses, and to any address. */
export interface Agents {
  readonly publicOnly: Dispatcher
  readonly anywhere: Dispatcher
}

/** The clients, limits and secret headers of a request. */
interface SendOptions {
  readonly agents: Agents
  /** The host that may be private; a redirect from it to another private host is refused. */
  readonly privateHost: string | undefined
  readonly secrets: RequestSecrets
  readonly maxBytes: number
  readonly deadline: Deadline
  readonly note: (line: string) => void
}

const maxAttempts = 3
const retriedStatuses = new Set([429, 502, 503, 504])
const idempotentMethods = new Set(['GET', 'HEAD', 'PUT', 'DELETE'])

/** Sends a request; idempotent methods are retried after connection errors and temporary failures. */
export async function sendHttpRequest(built: BuiltRequest, options: SendOptions): Promise<HttpResponse> {
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
  let { secrets } = options
  for (let hop = 0; hop <= maxRedirects; hop++) {
    const response = await sendOnce(next, secrets, options)
    const location = response.headers.location
    if (response.status < 300 || response.status > 399 || typeof location !== 'string') return response
    const to = redirectTarget(location, next.url)
    if (to.origin !== next.url.origin) {
      secrets = noSecrets
      if (next.body !== null && keepsMethod(response.status)) throw bodyRefused(next.url, to)
    }
    next = redirected(next, to, response.status)
  }
  throw loopRefused(built.url)
}

/** A URL with more parameters in its query. */
export function withQueryParameters(url: URL, query: Readonly<Record<string, string>>): URL {
  const entries = Object.entries(query)
  if (entries.length === 0) return url
  const extended = new URL(url)
  for (const [name, value] of entries) extended.searchParams.set(name, value)
  return extended
}

function redirected(request: BuiltRequest, url: URL, status: number): BuiltRequest {
  const headers = url.origin === request.url.origin ? request.headers : safeHeaders(request.headers)
  if (keepsMethod(status) || request.method === 'GET' || request.method === 'HEAD') return { ...request, url, headers }
  const { 'content-type': _type, ...bodiless } = headers
  return { method: 'GET', url, headers: bodiless, body: null }
}

async function sendOnce(built: BuiltRequest, secrets: RequestSecrets, options: SendOptions): Promise<HttpResponse> {
  const { method, url, headers, body } = built
  const started = performance.now()
  const mayBePrivate = url.hostname === options.privateHost
  if (!mayBePrivate) checkHostAddress(url.hostname)
  const response = await options.agents[mayBePrivate ? 'anywhere' : 'publicOnly'].request({
    origin: url.origin,
    path: `${url.pathname}${withQueryParameters(url, secrets.query).search}`,
    method,
    headers: { 'accept-encoding': 'gzip, br', 'user-agent': 'tooldex', ...headers, ...secrets.headers },
    body,
    signal: options.deadline,
  })
  const { statusCode: status } = response
  const bytes = await readResponseBody(response, options.maxBytes, options.deadline)
  options.note(`${method} ${url.origin}${url.pathname} ${status} (${Math.round(performance.now() - started)} ms)\n`)
  return { status, headers: response.headers, bytes, url }
}

/** Reads and decompresses a response; throws as soon as it exceeds `maxBytes`. */
async function readResponseBody(
  response: Dispatcher.ResponseData,
  maxBytes: number,
  deadline: Deadline,
): Promise<Buffer> {
  const encoding = String(response.headers['content-encoding'] ?? 'identity').toLowerCase()
  const decompress = decompressors[encoding]
  if (decompress === undefined) {
    response.body.destroy()
    throw new TooldexError('HTTP_ERROR', `The response has an unsupported content encoding (${encoding.slice(0, 40)}).`)
  }
  if (decompress === null && Number(response.headers['content-length'] ?? Number.NaN) <= maxBytes)
    return readKnownLength(response, deadline)
  const source: Readable = response.body
  const stream = decompress === null ? source : source.pipe(decompress())
  // A pipe does not propagate the errors of its source.
  if (stream !== source) source.on('error', (error) => stream.destroy(error))
  try {
    return await collect(stream, maxBytes)
  } catch (error) {
    if (error instanceof TooldexError || deadline.aborted) throw error
    throw endedEarly(error)
  } finally {
    source.destroy()
    stream.destroy()
  }
}

/** A response with a known length needs no counting: the client enforces the length. */
async function readKnownLength({ body }: Dispatcher.ResponseData, deadline: Deadline): Promise<Buffer> {
  try {
    return Buffer.from(await body.arrayBuffer())
  } catch (error) {
    if (deadline.aborted) throw error
    throw endedEarly(error)
  }
}

const endedEarly = (cause: unknown): TooldexError =>
  new TooldexError('HTTP_ERROR', 'The response ended prematurely.', { cause })

/** Uses events, because iterating over a stream takes longer than a small response does. */
function collect(stream: Readable, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  return new Promise((resolve, reject) => {
    stream.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes <= maxBytes) chunks.push(chunk)
      else reject(new TooldexError('OUTPUT_LIMIT', `The response is larger than ${maxBytes} bytes.`))
    })
    stream.once('end', () => resolve(Buffer.concat(chunks)))
    stream.once('error', reject)
    stream.once('close', () => reject(new Error('closed')))
  })
}
