import { randomUUID } from 'node:crypto'
import { BlockList } from 'node:net'
import { type Context, Hono } from 'hono'
import type { TooldexError } from '../../base/errors.ts'
import { type Logger, toLoggedError } from '../../base/logger.ts'
import { workFor } from '../../base/semaphore.ts'
import { parseTraceHeader } from '../../contract/telemetry.ts'
import { toolsetHeader } from '../../contract/toolset.ts'
import { callerOfToolset, toolsetsAllowPrograms } from '../../operations/catalog/caller-toolsets.ts'
import { invoke } from '../../operations/invoke.ts'
import type { HttpRoute, ServerContext } from '../../operations/operation.ts'
import { presentState } from '../../operations/operation.ts'
import { getAgentCard, publicAgentCard } from '../../operations/registry/agent-card.ts'
import { readMetrics } from '../../operations/runs/run-statistics.ts'
import { metadataUrl, type OAuthSettings, resourceMetadata } from './access-tokens.ts'
import { Authenticator } from './authenticate.ts'
import { checkHostAndOrigin, clientAddress } from './check-host.ts'
import { addConsoleRoutes } from './console-routes.ts'
import { docsPage } from './docs-page.ts'
import { followResponse } from './follow-route.ts'
import { entityTag, isKnown, streamJsonParts, toJsonParts } from './json-response.ts'
import type { KeyWatch } from './key-watch.ts'
import { OidcSignIn } from './oidc-sign-in.ts'
import { openApiDocument } from './openapi.ts'
import { OutageLog, problemResponse, unknownRoute } from './problem-response.ts'
import { defaultBodyLimits, discardBody, fieldsFromRequest, readRequest, readRequestBody } from './read-request.ts'
import { respondOnce } from './respond-once.ts'
import { RouteMatcher } from './route-matcher.ts'
import { apiBase, isKeepable, type RoutedOperation, routes } from './routes.ts'
import { SessionCookies } from './sessions.ts'
import { addSignInRoutes } from './sign-in-routes.ts'

const agentCardPath = '/.well-known/agent-card.json'

const safeHeaders = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  'cache-control': 'no-store',
}

type Env = {
  Variables: { requestId: string; whole?: true; revoked?: AbortSignal }
  Bindings: { incoming?: { complete?: boolean; socket?: { remoteAddress?: string } } }
}

/** The parts of the REST server. */
export interface RestOptions {
  readonly context: ServerContext
  /** The catalog of a workspace. */
  readonly catalogOf: (workspace: string) => Promise<ServerContext['catalog']>
  /** The learned queries of a workspace; they are not shared between workspaces. */
  readonly memoryOf: (workspace: string) => ServerContext['memory']
  /** Readiness check: throws if not ready, and returns warnings for the operator. */
  readonly ready: () => Promise<readonly string[]>
  /** Whether only the health and metrics endpoints are served, as by a worker. */
  readonly watchOnly?: boolean
  /** Allowed host names besides IP addresses and localhost. */
  readonly allowedHosts?: readonly string[] | undefined
  /** Proxies trusted for the address of a client; none if absent. */
  readonly trustedProxies?: BlockList | undefined
  /** Cancels running requests of revoked keys; if absent, only later requests are rejected. */
  readonly keyWatch?: KeyWatch
  /** The authorization server of callers with access tokens; without it there are only keys. */
  readonly oauth?: OAuthSettings | undefined
  /** The origin under which browsers reach the server; that of each request if absent. */
  readonly publicOrigin?: string | undefined
  /** Responds to MCP requests; if absent, there is no MCP endpoint. */
  readonly mcp?: (request: Request, context: ServerContext, readBody: () => Promise<unknown>) => Promise<Response>
}

/** The operations over HTTP. */
export function createRestApp(options: RestOptions): Hono<Env> {
  const { context, catalogOf, memoryOf, ready, watchOnly, keyWatch, mcp, oauth, publicOrigin } = options
  const originOf = (c: Context): string => publicOrigin ?? new URL(oauth?.resource ?? c.req.url).origin
  const { allowedHosts = [], trustedProxies = new BlockList() } = options
  const app = new Hono<Env>({ router: new RouteMatcher() })
  const authenticator = new Authenticator(context.registry.stores.keys, oauth)
  keyWatch?.onRevoked(() => authenticator.forget())
  app.use(async (c, next) => {
    c.set('requestId', requestIdOf(c.req.header('x-request-id')))
    await next()
    await discardBody(c.req.raw)
    // The rest of a body that is too long to be read would be taken for the next request.
    if (c.env?.incoming?.complete === false) c.res.headers.set('connection', 'close')
    // Changing headers costs as much as the rest of a response.
    if (c.get('whole')) return
    c.res.headers.set('x-request-id', c.get('requestId'))
    for (const [name, value] of Object.entries(safeHeaders))
      if (!c.res.headers.has(name)) c.res.headers.set(name, value)
  })
  app.use((c, next) => {
    const origin = c.req.header('origin')
    const host = c.req.header('host')
    // A request line with a whole URL names a host of its own.
    if (host === undefined || !c.req.url.startsWith(`http://${host}/`))
      checkHostAndOrigin({ host: new URL(c.req.url).host, origin }, allowedHosts)
    if (host !== undefined) checkHostAndOrigin({ host, origin }, allowedHosts)
    return next()
  })
  const outages = new OutageLog(context.logger)
  const challenge = oauth === undefined ? '' : `, resource_metadata="${metadataUrl(oauth)}"`
  app.onError((thrown, c) => {
    const response = problemResponse(logFailure({ ...context, outages }, thrown, c), c.get('requestId'))
    const authenticate = response.headers.get('www-authenticate')
    if (authenticate !== null && challenge !== '') {
      const error = c.req.header('authorization') === undefined ? '' : ', error="invalid_token"'
      response.headers.set('www-authenticate', authenticate + error + challenge)
    }
    return response
  })
  app.notFound((c) => {
    const { error, allow } = unknownRoute(app.routes, {
      path: new URL(c.req.url).pathname,
      method: c.req.method,
    })
    if (allow !== undefined && c.req.method === 'OPTIONS')
      return new Response(null, { status: 204, headers: { allow } })
    return problemResponse(error, c.get('requestId'), allow === undefined ? {} : { allow })
  })
  app.get('/healthz', (c) => c.json({ status: 'ok' }))
  app.get('/readyz', async (c) => {
    const warnings = await ready()
    return c.json({ status: 'ready', ...(warnings.length === 0 ? {} : { warnings }) })
  })
  const sessions = new SessionCookies(context.registry.box)
  const sourceOf = (c: Context) =>
    clientAddress(c.env?.incoming?.socket?.remoteAddress ?? '', c.req.header('x-forwarded-for'), trustedProxies)
  const contextOf = async (c: Context<Env>, operation?: RoutedOperation): Promise<ServerContext> => {
    const authorization = c.req.header('authorization')
    const isApi = c.req.path.startsWith(`${apiBase}/`)
    const session = isApi && authorization === undefined ? sessions.read(c)?.credential : undefined
    const source = sourceOf(c)
    const identified = await authenticator.identify({
      authorization,
      session,
      address: c.req.url,
      source,
      isReading: c.req.method === 'GET',
    })
    const { workspace, actor, scopes, codeMode, keyId, expired, groups, toolsets } = identified
    const identity = { workspace, actor, requestId: c.get('requestId'), groups, toolsets }
    const present = presentState(identified.registryState)
    const catalog = await catalogOf(workspace)
    const toolset = c.req.param('toolset') ?? c.req.header(toolsetHeader)
    const caller =
      toolset === undefined
        ? identity
        : await callerOfToolset({ ...context, present, catalog, caller: identity, scopes }, toolset)
    const memory = memoryOf(workspace)
    const trace = parseTraceHeader(c.req.header('traceparent'))
    let signal: AbortSignal | undefined
    const openSignal = (): AbortSignal => {
      const revoked = expired ?? (keyId === undefined ? undefined : keyWatch?.signalOf(keyId))
      if (revoked === undefined) return c.req.raw.signal
      c.set('revoked', revoked)
      return AbortSignal.any([c.req.raw.signal, revoked])
    }
    return {
      ...context,
      catalog,
      memory,
      present,
      caller,
      scopes,
      codeMode: codeMode === true || (await toolsetsAllowPrograms({ ...context, present, catalog, caller, scopes })),
      trace,
      origin: originOf(c),
      elsewhere: operation === undefined ? undefined : fieldsFromRequest(operation),
      // The signal is created on demand, and once: most operations are too short to be cancelled.
      get signal() {
        signal ??= openSignal()
        return signal
      },
    }
  }
  app.get('/metrics', async (c) =>
    c.text(await invoke(readMetrics, {}, await contextOf(c)), 200, {
      'content-type': 'text/plain; version=0.0.4; charset=utf-8',
    }),
  )
  if (watchOnly) return app
  app.get('/openapi.json', async (c) => c.json(await openApiDocument()))
  // A key in the query would stay in the URL and in logs.
  app.get('/docs', async (c) => (new URL(c.req.url).search === '' ? docsPage() : c.redirect('/docs')))
  app.get(`${apiBase}/executions/:id/events`, async (c) =>
    followResponse(await contextOf(c), c.req.param('id'), c.req.header('last-event-id')),
  )
  if (oauth !== undefined)
    for (const path of ['', new URL(oauth.resource).pathname.replace(/\/$/, '')])
      app.get(`/.well-known/oauth-protected-resource${path}`, (c) => c.json(resourceMetadata(oauth)))
  app.get(agentCardPath, async (c) => {
    const isPublic = c.req.header('authorization') === undefined
    return c.json(isPublic ? publicAgentCard(originOf(c)) : await invoke(getAgentCard, {}, await contextOf(c)))
  })
  app.get(`/mcp/:toolset${agentCardPath}`, async (c) => c.json(await invoke(getAgentCard, {}, await contextOf(c))))
  if (mcp !== undefined)
    for (const path of ['/mcp', '/mcp/:toolset'])
      app.all(path, async (c) => {
        const context = await contextOf(c)
        const response = await mcp(c.req.raw, context, () => readRequestBody(c.req.raw, defaultBodyLimits))
        c.get('revoked')?.throwIfAborted()
        return response
      })
  for (const operation of routes) {
    const path = apiBase + operation.http.path.replaceAll(/\{(\w+)\}/g, ':$1')
    app.on(operation.http.method.toUpperCase(), path, async (c) => {
      const answer = await respond(c, operation, await contextOf(c, operation))
      if (operation.http.endsKeys === true) authenticator.forget()
      c.get('revoked')?.throwIfAborted()
      return answer
    })
  }
  const oidc = oauth?.client && new OidcSignIn(oauth, oauth.client, context.registry.box)
  const { sources } = context
  if (sources !== undefined)
    addSignInRoutes(app as unknown as Hono, {
      contextFor: async (caller) => ({ ...context, catalog: await catalogOf(caller.workspace), sources, caller }),
      box: context.registry.box,
      originOf,
    })
  addConsoleRoutes(app as unknown as Hono, { authenticator, sessions, oidc, logger: context.logger, sourceOf })
  return app
}

async function respond(c: Context<Env>, operation: RoutedOperation, context: ServerContext): Promise<Response> {
  const { http } = operation
  const { workspace, actor } = context.caller
  // A long body is parsed in a worker thread, queued by caller.
  const input = await workFor(`${workspace} ${actor}`, () => readRequest(c, operation))
  if (http.media !== undefined) return download(c, operation, { input, context })
  const run = async () => {
    const body = (await invoke(operation, input, context)) as unknown
    return { status: http.isDone?.(body) === true ? 200 : (http.status ?? 200), body }
  }
  const key = c.req.header('idempotency-key')
  const answer =
    key === undefined || !isKeepable(operation)
      ? await run()
      : await respondOnce(
          {
            answers: context.registry.stores.answers,
            caller: context.caller,
            key,
            request: [operation.name, input],
          },
          run,
        )
  const parts = await toJsonParts(answer.body)
  const tag = await entityTag(answer.body, parts)
  if (operation.http.method === 'get' && isKnown(c.req.header('if-none-match'), tag))
    return new Response(null, { status: 304, headers: { etag: tag } })
  c.set('whole', true)
  const headers = { ...safeHeaders, 'content-type': 'application/json', etag: tag, 'x-request-id': c.get('requestId') }
  return new Response(parts.length === 1 ? parts[0] : streamJsonParts(parts), {
    status: answer.status,
    headers: { ...headers, ...locationOf(http, answer.body) },
  })
}

/** The Location header of a created resource. */
function locationOf({ location }: HttpRoute, body: unknown): { readonly location?: string } {
  if (location === undefined) return {}
  const fields = body as Readonly<Record<string, unknown>>
  return { location: apiBase + location.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(fields[name])) }
}

/** Streams an output that is too large for one string. */
async function download(
  c: Context<Env>,
  operation: RoutedOperation,
  { input, context }: { input: unknown; context: ServerContext },
): Promise<Response> {
  const whole = (await invoke(operation, input, context)) as ReadableStream<Uint8Array>
  const stream = whole.pipeThrough(new TransformStream(), context.signal && { signal: context.signal })
  const headers = { 'content-type': String(operation.http.media), 'content-disposition': 'attachment' }
  return new Response(stream, { headers: { ...safeHeaders, ...headers, 'x-request-id': c.get('requestId') } })
}

/** Accepts a request id of the caller only in a safe format, to prevent log injection. */
const requestIdOf = (header: string | undefined): string =>
  header !== undefined && /^[\w.-]{1,100}$/.test(header) ? header : randomUUID()

/** Logs the path without the query, which may contain secrets. */
function logFailure(
  { logger, outages }: { readonly logger: Logger; readonly outages: OutageLog },
  thrown: unknown,
  c: Context<Env>,
): TooldexError {
  const { pathname } = new URL(c.req.url)
  const about = { method: c.req.method, path: pathname.slice(0, 200), requestId: c.get('requestId') }
  const error = toLoggedError(logger, thrown, about)
  if (error.code === 'UNAVAILABLE') outages.note(error, about)
  if (error.code !== 'INTERNAL') logger.info('refused', { ...about, code: error.code })
  return error
}
