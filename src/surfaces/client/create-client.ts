import { TooldexError } from '../../base/errors.ts'
import { followEvents } from '../../http-client/follow-events.ts'
import { type ClientRoute, toRestRequest } from '../../http-client/route.ts'
import { type RestServer, readJsonResponse, sendRequest } from '../../http-client/send-request.ts'
import {
  createMethods,
  type FollowMethod,
  type MethodOptions,
  type OperationMethods,
  type RouteName,
} from '../../operations/methods/methods.ts'
import { clientRoutes } from '../../operations/methods/routes.ts'

/** The server of a client, and the limits of its requests. */
export interface ClientOptions extends Omit<RestServer, 'url'> {
  /** The URL of the server; in a browser, that of the page if absent. */
  readonly url?: string | undefined
  /** The number of attempts after the first, for requests that are safe to repeat; 3 if absent. */
  readonly retries?: number | undefined
  /** The time limit of each attempt; one minute, or the longer limit of an operation, if absent. */
  readonly timeoutMs?: number | undefined
}

/** The options of one request. */
export interface RequestOptions extends MethodOptions {
  readonly timeoutMs?: number | undefined
  readonly retries?: number | undefined
  /** Requests with the same key run once; a random key is sent if absent. */
  readonly idempotencyKey?: string | undefined
}

/** A client of a server: its operations with a route as methods, such as `tools.search` and `executions.get`. */
export interface TooldexClient extends OperationMethods<RequestOptions>, FollowMethod {}

const defaults = { retries: 3, timeoutMs: 60_000 }
type Input = Readonly<Record<string, unknown>>

/** Creates a client of a server; nothing is sent before the first request. */
export function createClient(options: ClientOptions = {}): TooldexClient {
  const server = { ...options, url: readUrl(options.url) }
  const follow: FollowMethod['follow'] = (id, { signal } = {}) =>
    followEvents(server, id, signal) as ReturnType<FollowMethod['follow']>
  const methods = createMethods<RequestOptions>((name, input, request) => send(server, { name, input, request }))
  return { ...methods, follow }
}

interface MethodCall {
  readonly name: RouteName
  readonly input: Input
  readonly request: RequestOptions
}

async function send(server: ClientOptions & { readonly url: string }, { name, input, request }: MethodCall) {
  const route: ClientRoute = clientRoutes[name]
  const { signal, traceparent, retries = server.retries ?? defaults.retries } = request
  const timeoutMs = request.timeoutMs ?? server.timeoutMs ?? route.deadlineMs ?? defaults.timeoutMs
  const key = keyFor(route, input, request)
  const { headers, ...rest } = toRestRequest(route, input)
  return sendRequest<unknown>(
    traceparent === undefined ? server : { ...server, traceparent },
    { ...rest, headers: { ...headers, ...(key === undefined ? {} : { 'idempotency-key': key }) } },
    { signal, retries, timeoutMs, isRepeatable: isRepeatable(route, input, key) },
    route.media === undefined ? readJsonResponse : async ({ body }) => body,
  )
}

/** A random key makes a change safe to repeat; `execute` accepts the key in its input, too. */
function keyFor({ keyed }: ClientRoute, input: Input, { idempotencyKey }: RequestOptions): string | undefined {
  if (idempotencyKey !== undefined || keyed !== true || input.idempotencyKey != null) return idempotencyKey
  return randomKey()
}

const isRepeatable = ({ method, reads }: ClientRoute, input: Input, key: string | undefined): boolean =>
  reads === true || method === 'get' || method === 'put' || key !== undefined || input.idempotencyKey != null

/** `crypto.randomUUID` is missing on pages without TLS. */
const randomKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')

/** The URL of the server, which may be that of its API. */
function readUrl(url: string | undefined): string {
  const text = url ?? (globalThis as { location?: { origin?: string } }).location?.origin ?? ''
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text.replace(/(?:\/api\/v1)?\/*$/, '')
  throw new TooldexError('USAGE', `url is not a valid URL: '${text}'.`, {
    hint: 'Set it to something like http://127.0.0.1:7331.',
  })
}
