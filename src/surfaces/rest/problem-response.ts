import { STATUS_CODES } from 'node:http'
import { BoundedMap } from '../../base/bounded-map.ts'
import { errorTable, TooldexError, toErrorBody, toTooldexError } from '../../base/errors.ts'
import type { LogFields, Logger } from '../../base/logger.ts'

/** Converts an error to an RFC 9457 response. */
export function problemResponse(
  thrown: unknown,
  requestId: string,
  headersOf: Readonly<Record<string, string>> = {},
): Response {
  const error = toTooldexError(thrown)
  const status = statusOf(error)
  const { code, message, hint, retryable, errors, ...more } = toErrorBody(error)
  const body = {
    type: `urn:tooldex:error:${code}`,
    title: titleOf(code),
    status,
    detail: message,
    code,
    hint,
    retryable,
    errors,
    requestId,
    ...more,
  }
  const headers: Record<string, string> = { 'content-type': 'application/problem+json', ...headersOf }
  if (status === 401) headers['www-authenticate'] = 'Bearer realm="tooldex"'
  if (status === 429 || status === 503) headers['retry-after'] = String(error.retryAfter ?? 1)
  return new Response(JSON.stringify(body), { status, headers })
}

/** The failure of a call is the content of its execution (200); where there is no execution, it is the failure of the request. */
const statusOf = ({ code }: TooldexError): number => (errorTable[code].http === 200 ? 424 : errorTable[code].http)

const titleOf = (code: string): string => {
  const words = code.toLowerCase().replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** A route of the app, or with the method ALL a middleware; a path parameter is `:name`. */
interface AppRoute {
  readonly method: string
  readonly path: string
}

/** The methods of a path; empty if it does not exist. */
function methodsAt(routes: readonly AppRoute[], path: string): readonly string[] {
  const methods = routes
    .filter(({ method }) => method !== 'ALL')
    .filter((route) => new RegExp(`^${route.path.replaceAll(/:\w+/g, '[^/]+')}$`).test(path))
    .map(({ method }) => method)
  return [...new Set(methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])))].sort()
}

/** The error for an unknown path or method. */
export function unknownRoute(
  routes: readonly AppRoute[],
  { path, method }: { readonly path: string; readonly method: string },
): { readonly error: TooldexError; readonly allow?: string } {
  const allow = methodsAt(routes, path).join(', ')
  if (allow !== '') {
    const message = `Method not allowed; this path accepts ${allow}.`
    const hint = hintOnMember(routes, path, method)
    return { error: new TooldexError('METHOD_NOT_ALLOWED', message, hint === undefined ? {} : { hint }), allow }
  }
  return {
    error: new TooldexError('NOT_FOUND', 'This path does not exist.', {
      hint: 'See /docs for the available paths.',
    }),
  }
}

/** The way to write one member of a collection, for a request that would write the collection itself. */
function hintOnMember(routes: readonly AppRoute[], path: string, method: string): string | undefined {
  const members = routes.filter((route) => /^:\w+$/.test(route.path.slice(path.length + 1)) && inside(route, path))
  const written = members.find((route) => route.method === (method === 'POST' ? 'PUT' : method))
  if (written === undefined) return undefined
  return `Name one of them in the path: ${written.method} ${written.path.replace(/:(\w+)$/, '{$1}')}.`
}

const inside = ({ path }: AppRoute, folder: string): boolean => path.startsWith(`${folder}/`)

interface PlainRow {
  readonly status: number
  readonly code: string
  readonly detail: string
  readonly hint: string
}

const unreadable: PlainRow = {
  status: 400,
  code: 'BODY_INVALID',
  detail: 'The request is not valid HTTP.',
  hint: 'Send an HTTP/1.1 request.',
}
const rows: Readonly<Record<string, PlainRow>> = {
  HPE_HEADER_OVERFLOW: {
    status: 431,
    code: 'TOO_LARGE',
    detail: 'The request line and headers are too large.',
    hint: 'Shorten the URL and the headers.',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: 408,
    code: 'EXECUTION_TIMEOUT',
    detail: 'The request was not complete in time.',
    hint: 'Send it faster.',
  },
}

/** A complete HTTP response as text, for requests that the HTTP parser rejects. */
export function plainProblem(reason: string | undefined): string {
  const { status, code, detail, hint } = rows[reason ?? ''] ?? unreadable
  const title = STATUS_CODES[status] ?? ''
  const type = `urn:tooldex:error:${code}`
  const body = JSON.stringify({ type, title, status, detail, code, hint, retryable: false, errors: [], requestId: '' })
  const head = [
    `HTTP/1.1 ${status} ${title}`,
    'content-type: application/problem+json',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ]
  return `${head.join('\r\n')}\r\n\r\n${body}`
}

// Repeating the reason for every rejected request would fill the log.
const repeatMs = 5000
const maxReasons = 100

/** Logs the reasons of 503 responses, with the error of the database; each message is rate-limited. */
export class OutageLog {
  readonly #logger: Logger
  readonly #loggedAt = new BoundedMap<string, number>(maxReasons)

  constructor(logger: Logger) {
    this.#logger = logger
  }

  note(error: TooldexError, fields: LogFields): void {
    const now = performance.now()
    if (now - (this.#loggedAt.get(error.message) ?? Number.NEGATIVE_INFINITY) < repeatMs) return
    this.#loggedAt.set(error.message, now)
    this.#logger.warn(error.message, { ...fields, reason: innermostMessage(error) })
  }
}

/** The message of the driver; the errors around it contain values of statements. */
function innermostMessage(error: Error): string {
  let current = error
  for (let depth = 0; depth < 6 && current.cause instanceof Error; depth++) current = current.cause
  return current.message
}
