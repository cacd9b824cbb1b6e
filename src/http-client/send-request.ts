import { type ErrorCode, errorTable, type ReachedLimit, TooldexError } from '../base/errors.ts'
import type { Problem } from '../base/problem.ts'
import { untilAborted } from '../base/until-aborted.ts'
import type { RestRequest } from './route.ts'

/** The server of requests. */
export interface RestServer {
  /** The URL of the server, without `/api/v1`; it is read for each request. */
  readonly url: string
  /** The key or access token, or a function that returns the current one. */
  readonly key?: string | (() => string | undefined | Promise<string | undefined>) | undefined
  /** The trace that requests belong to. */
  readonly traceparent?: string | undefined
  /** Headers of every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Replaces the fetch of the runtime. */
  readonly fetch?: typeof fetch | undefined
}

/** The limits of one request. */
export interface SendOptions {
  readonly signal?: AbortSignal | undefined
  /** The time limit of each attempt; unlimited if absent. */
  readonly timeoutMs?: number | undefined
  /** The number of attempts after the first. */
  readonly retries: number
  /** Whether a request whose response was lost may be sent again. */
  readonly isRepeatable: boolean
  /** Ends the pause after a request that certainly had no effect, where the request itself must not be aborted. */
  readonly pauseSignal?: AbortSignal | undefined
  /** Called before each pause, with the error that led to it. */
  readonly onPause?: ((error: TooldexError, ms: number) => void) | undefined
}

/** The pauses between attempts, in milliseconds. A server that requests a longer one is not waited for. */
const pauses = { first: 200, max: 5000, maxRequested: 60_000 }
const tooManyRequests = 429
const lostStatuses = new Set([502, 503, 504])

/** A failed attempt: the error, whether a repetition may succeed, and whether the request certainly had no effect. */
interface Failure {
  readonly error: TooldexError
  readonly isTransient: boolean
  readonly isRejected: boolean
}

/** Sends one request and reads its response; a lost or rejected request is repeated where that is safe. */
export async function sendRequest<Result>(
  server: RestServer,
  request: RestRequest,
  { signal, timeoutMs, retries, isRepeatable, pauseSignal = signal, onPause }: SendOptions,
  read: (response: Response) => Promise<Result>,
): Promise<Result> {
  for (let tries = 0; ; tries++) {
    const answer = await attempt(server, request, { signal, timeoutMs }, read)
    if ('result' in answer) return answer.result
    const { error, isTransient, isRejected } = answer.failure
    const pauseMs = pauseBeforeRetry(tries, error.retryAfter)
    const mayRepeat = isTransient && (isRejected || isRepeatable)
    if (!mayRepeat || tries >= retries || pauseMs === undefined) throw error
    onPause?.(error, pauseMs)
    await pause(pauseMs, isRejected ? pauseSignal : signal)
  }
}

/** An exponential pause with jitter, or the one that the server requests; undefined if that is too long. */
export function pauseBeforeRetry(tries: number, retryAfter?: number): number | undefined {
  if (retryAfter !== undefined && retryAfter * 1000 > pauses.maxRequested) return undefined
  const ms = Math.min(pauses.first * 2 ** tries, pauses.max) * (0.5 + Math.random() / 2)
  return retryAfter === undefined ? ms : retryAfter * 1000 + Math.random() * pauses.first
}

async function attempt<Result>(
  server: RestServer,
  request: RestRequest,
  { signal, timeoutMs }: Pick<SendOptions, 'signal' | 'timeoutMs'>,
  read: (response: Response) => Promise<Result>,
): Promise<{ readonly result: Result } | { readonly failure: Failure }> {
  signal?.throwIfAborted()
  const late = new AbortController()
  const timer = timeoutMs === undefined ? undefined : setTimeout(() => late.abort(), timeoutMs)
  try {
    const ended = signal ? AbortSignal.any([signal, late.signal]) : late.signal
    const response = await fetchFrom(server, request, ended)
    if (response.ok) return { result: await untilAborted(read(response), ended) }
    return { failure: await untilAborted(readFailure(response), ended) }
  } catch (cause) {
    if (cause instanceof TooldexError) throw cause
    signal?.throwIfAborted()
    const error = unanswered(server, late.signal.aborted ? timeoutMs : undefined, cause)
    return { failure: { error, isTransient: true, isRejected: false } }
  } finally {
    clearTimeout(timer)
  }
}

async function fetchFrom(server: RestServer, request: RestRequest, signal: AbortSignal): Promise<Response> {
  const { url, traceparent } = server
  const { method, path, headers, body } = request
  const key = typeof server.key === 'function' ? await server.key() : server.key
  const send = server.fetch ?? fetch
  return send(`${url.replace(/\/+$/, '')}/api/v1${path}`, {
    method,
    headers: {
      ...server.headers,
      ...headers,
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...(traceparent === undefined ? {} : { traceparent }),
    },
    ...(body === undefined ? {} : { body }),
    redirect: 'error',
    signal,
  })
}

function unanswered({ url }: RestServer, timeoutMs: number | undefined, cause: unknown): TooldexError {
  const late = timeoutMs === undefined ? '' : ` within ${timeoutMs / 1000} s`
  const origin = URL.canParse(url) ? new URL(url).origin : url
  return new TooldexError('UNAVAILABLE', `The server at ${origin} does not answer${late}.`, {
    hint: 'Start it with: tooldex serve, then try again.',
    cause,
  })
}

/** The fields of an error response (RFC 9457). */
interface ProblemBody {
  readonly code?: string
  readonly detail?: string
  readonly hint?: string
  readonly errors?: Problem[]
  readonly id?: string
  readonly requestId?: string
  readonly limit?: ReachedLimit
  readonly url?: string
}

async function readFailure(response: Response): Promise<Failure> {
  const { status, headers } = response
  const body = (await response.json().catch(() => undefined)) as ProblemBody | undefined
  const error = toError(status, body ?? {}, readRetryAfter(headers.get('retry-after')))
  const isRejected = status === tooManyRequests
  return { error, isTransient: isRejected || (lostStatuses.has(status) && error.retryable), isRejected }
}

function toError(status: number, body: ProblemBody, retryAfter?: number) {
  const { code, detail, hint, errors, id, requestId, limit, url } = body
  const isKnown = code !== undefined && Object.hasOwn(errorTable, code)
  const options = {
    problems: errors ?? [],
    hint: hint ?? (isKnown ? undefined : 'Check that the URL belongs to a Tooldex server.'),
    id,
    requestId,
    retryAfter,
    limit,
    url,
  }
  if (isKnown) return new TooldexError(code as ErrorCode, detail ?? code, options)
  // A response of a proxy, or an error of a later release.
  if (code === undefined)
    return new TooldexError('UNAVAILABLE', `The server returned HTTP ${status} without an error code.`, options)
  return new TooldexError('INTERNAL', `The server returned the error ${code}: ${detail ?? `HTTP ${status}`}`, options)
}

/** Reads a response that must be JSON. */
export async function readJsonResponse(response: Response): Promise<unknown> {
  const text = await response.text()
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new TooldexError('UNAVAILABLE', `The response of ${new URL(response.url).origin} is not JSON.`, {
      hint: 'Check that the URL belongs to a Tooldex server.',
      cause,
    })
  }
}

/** The seconds of a Retry-After header: a number or a date. */
function readRetryAfter(header: string | null): number | undefined {
  if (header === null) return undefined
  if (/^\d{1,9}$/.test(header)) return Number(header)
  const at = Date.parse(header)
  return Number.isNaN(at) ? undefined : Math.max(0, (at - Date.now()) / 1000)
}

/** Waits in any runtime; rejects with the reason of the signal if it aborts. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const abort = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort)
      resolve()
    }, ms)
    signal?.addEventListener('abort', abort, { once: true })
  })
}
