import { randomUUID } from 'node:crypto'
import { type Context, Hono } from 'hono'
import { TooldexError } from '../../base/errors.ts'
import { invoke } from '../../operations/invoke.ts'
import type { OperationContext } from '../../operations/operation.ts'
import { registryOf } from '../../operations/registry/registry.ts'
import { answerOnce } from './answer-once.ts'
import { Authenticator } from './authenticate.ts'
import { docsPage } from './docs-page.ts'
import { entityTag, expectedVersion, isKnown } from './entity-tag.ts'
import { openApiDocument } from './openapi.ts'
import { problemResponse } from './problem-response.ts'
import { readBody } from './read-body.ts'
import { fieldsOf, readQuery } from './read-input.ts'
import { namesIn, type RoutedOperation, routes } from './routes.ts'

const base = '/api/v1'
const limits = { bytes: 4 * 1024 * 1024, depth: 100 }
const safeHeaders = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  'cache-control': 'no-store',
}

type Env = { Variables: { requestId: string }; Bindings: { incoming?: { socket?: { remoteAddress?: string } } } }

/** What the server needs to answer. */
export interface RestOptions {
  readonly context: OperationContext
  /** What is offered in a workspace. */
  readonly catalogueOf: (workspace: string) => Promise<OperationContext['catalogue']>
  /** Whether it should be asked at all; throws where not. */
  readonly ready: () => Promise<void>
}

/** The operations over HTTP. */
export function createRestApp({ context, catalogueOf, ready }: RestOptions): Hono<Env> {
  const app = new Hono<Env>()
  const authenticator = new Authenticator(registryOf(context).stores.keys)
  app.use(async (c, next) => {
    c.set('requestId', requestIdOf(c.req.header('x-request-id')))
    await next()
    c.res.headers.set('x-request-id', c.get('requestId'))
    for (const [name, value] of Object.entries(safeHeaders))
      if (!c.res.headers.has(name)) c.res.headers.set(name, value)
  })
  app.onError((error, c) => problemResponse(error, c.get('requestId')))
  app.notFound((c) => problemResponse(unknownAddress(c), c.get('requestId')))
  app.get('/healthz', (c) => c.json({ status: 'ok' }))
  app.get('/readyz', async (c) => {
    await ready()
    return c.json({ status: 'ready' })
  })
  app.get('/openapi.json', (c) => c.json(openApiDocument()))
  app.get('/docs', (c) => docsPage(c))
  for (const operation of routes) {
    const path = base + operation.http.path.replaceAll(/\{(\w+)\}/g, ':$1')
    app.on(operation.http.method.toUpperCase(), path, async (c) => {
      const source = c.env?.incoming?.socket?.remoteAddress ?? ''
      const { key, scopes } = await authenticator.identify(c.req.raw, source)
      const caller = { workspace: key.workspace, actor: `key:${key.name}`, requestId: c.get('requestId') }
      const catalogue = await catalogueOf(key.workspace)
      const inner = { ...context, catalogue, caller, scopes, signal: c.req.raw.signal }
      return respond(c, operation, inner)
    })
  }
  return app
}

async function respond(c: Context<Env>, operation: RoutedOperation, context: OperationContext): Promise<Response> {
  const input = await readInput(c, operation)
  const run = async () => ({
    status: operation.http.status ?? 200,
    body: (await invoke(operation, input, context)) as unknown,
  })
  const key = c.req.header('idempotency-key')
  const answer =
    key === undefined || operation.http.method !== 'post'
      ? await run()
      : await answerOnce(
          {
            answers: registryOf(context).stores.answers,
            caller: context.caller,
            key,
            request: [operation.name, input],
          },
          run,
        )
  const text = JSON.stringify(answer.body)
  const tag = entityTag(answer.body, text)
  if (operation.http.method === 'get' && isKnown(c.req.header('if-none-match'), tag))
    return new Response(null, { status: 304, headers: { etag: tag } })
  return new Response(text, { status: answer.status, headers: { 'content-type': 'application/json', etag: tag } })
}

/** Body, address and query together are the input; the address wins, so that a body cannot mean another thing. */
async function readInput(c: Context<Env>, operation: RoutedOperation): Promise<unknown> {
  const query = new URL(c.req.url).searchParams
  const given = operation.http.method === 'get' ? undefined : await readBody(c.req.raw, limits)
  if (given !== undefined && (typeof given !== 'object' || given === null || Array.isArray(given)))
    throw new TooldexError('INPUT_INVALID', 'The body must be a JSON object.')
  const named = Object.fromEntries(namesIn(operation.http.path).map((name) => [name, c.req.param(name)]))
  const version = fieldsOf(operation.input).has('expectedVersion')
    ? expectedVersion(c.req.header('if-match'))
    : undefined
  return {
    ...given,
    ...readQuery(operation.input, query),
    ...named,
    ...(version === undefined ? {} : { expectedVersion: version }),
  }
}

/** A caller's own id is taken over if it is a plain word, so that nothing in a log can be made up. */
const requestIdOf = (given: string | undefined): string =>
  given !== undefined && /^[\w.-]{1,100}$/.test(given) ? given : randomUUID()

function unknownAddress(c: Context<Env>): TooldexError {
  const path = new URL(c.req.url).pathname
  const methods = routes
    .filter(({ http }) => new RegExp(`^${base}${http.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path))
    .map(({ http }) => http.method.toUpperCase())
  if (methods.length > 0)
    return new TooldexError('METHOD_NOT_ALLOWED', `This address takes ${[...new Set(methods)].join(', ')}.`)
  return new TooldexError('NOT_FOUND', 'There is nothing at this address.', { hint: 'See /docs for what there is.' })
}
