import { TooldexError } from '../../base/errors.ts'
import { followEvents } from '../../http-client/follow.ts'
import { type ClientRoute, toRestRequest } from '../../http-client/route.ts'
import { readJsonResponse, sendRequest } from '../../http-client/send.ts'
import type { ClientOptions, RequestOptions, TooldexClient } from './client-types.ts'
import { toPagePromise } from './page-promise.ts'
import { clientRoutes } from './routes.ts'

const defaults = { retries: 3, timeoutMs: 60_000 }
type Input = Readonly<Record<string, unknown>>

/** Creates a client of a server; nothing is sent before the first request. */
export function createClient(options: ClientOptions = {}): TooldexClient {
  const server = { ...options, url: readUrl(options.url) }
  const groups: Record<string, Record<string, unknown>> = {}
  for (const [name, route] of Object.entries<ClientRoute>(clientRoutes)) {
    const [group = '', method = ''] = name.replace(/^registry\./, 'tools.').split('.')
    groups[group] ??= {}
    groups[group][method] = toMethod(server, route)
  }
  const follow: TooldexClient['follow'] = (id, { signal } = {}) =>
    followEvents(server, id, signal) as ReturnType<TooldexClient['follow']>
  return { ...groups, follow } as unknown as TooldexClient
}

const toMethod = (server: ClientOptions & { readonly url: string }, route: ClientRoute) => {
  const send = async (input: Input, options: RequestOptions): Promise<unknown> => {
    const { signal, retries = server.retries ?? defaults.retries } = options
    const timeoutMs = options.timeoutMs ?? server.timeoutMs ?? route.deadlineMs ?? defaults.timeoutMs
    const key = keyFor(route, input, options)
    const request = toRestRequest(route, input)
    const headers = { ...request.headers, ...(key === undefined ? {} : { 'idempotency-key': key }) }
    const isStream = route.media !== undefined
    return sendRequest(
      options.traceparent === undefined ? server : { ...server, traceparent: options.traceparent },
      { ...request, headers },
      { signal, retries, timeoutMs, isRepeatable: isRepeatable(route, input, key) },
      isStream ? async ({ body }) => body : readJsonResponse,
    )
  }
  return (input: Input = {}, options: RequestOptions = {}) =>
    toPagePromise(send(input, options), (cursor) => send({ ...input, cursor }, options))
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
