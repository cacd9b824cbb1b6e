import fc from 'fast-check'
import * as z from 'zod'
import { hasBody, namesIn, type RoutedOperation, routes } from '../../src/surfaces/rest/routes.ts'
import { type Schema, validFor } from '../support/schema-arbitrary.ts'
import { hostileText, hostileValue } from './hostile.ts'
import { makeMcpRequest } from './make-mcp-request.ts'
import type { Random } from './random.ts'
import { programCall, specials } from './special-inputs.ts'

/** One request of the run. */
export interface FuzzRequest {
  readonly route: string
  readonly method: string
  /** Below the server's address. */
  readonly path: string
  readonly body?: string
  readonly headers: Readonly<Record<string, string>>
}

/** Ids and names that exist in some workspace, by the first segment of the paths that take them. */
export type Known = Readonly<Record<string, readonly string[]>>

const samples = new Map<string, readonly unknown[]>()

/** Inputs that fit an operation, made once. */
function samplesOf(operation: RoutedOperation): readonly unknown[] {
  const made = samples.get(operation.name)
  if (made !== undefined) return made
  const schema = z.toJSONSchema(operation.input, { io: 'input', unrepresentable: 'any' }) as Schema & {
    readonly $defs?: Readonly<Record<string, Schema>>
  }
  const find = (ref: string): Schema => schema.$defs?.[ref.replace('#/$defs/', '')] ?? {}
  const some = fc.sample(validFor(schema, find), { seed: 1, numRuns: 60 })
  samples.set(operation.name, some)
  return some
}

const otherRoutes = [
  ...[
    '/healthz',
    '/readyz',
    '/metrics',
    '/openapi.json',
    '/docs',
    '/',
    '/catalog',
    '/assets/x.js',
    '/assets/..%2f..%2fx',
  ],
  ...['/api/v1/executions/{id}/events', '/.well-known/agent-card.json', '/mcp/{toolset}/.well-known/agent-card.json'],
]

/** The next request, mostly right, often wrong in one place, sometimes hostile. */
export function makeRequest(random: Random, known: Known): FuzzRequest {
  if (random.chance(0.1)) return makeMcpRequest(random, known)
  if (random.chance(0.03)) {
    const route = random.pick(otherRoutes)
    const path = route
      .replace('{id}', random.pick(known.executions ?? ['x']))
      .replace('{toolset}', random.pick(known.toolsets ?? ['x']))
    const headers = random.chance(0.3) ? { accept: 'text/html' } : {}
    return { route: `GET ${route}`, method: 'GET', path, headers }
  }
  if (random.chance(0.02)) return sessionRequest(random)
  if (random.chance(0.03)) return programRequest(random)
  const operation = random.pick(routes)
  const input = inputFor(operation, random)
  const path = pathFor(operation, random, known)
  const method = operation.http.method.toUpperCase()
  const route = `${method} ${operation.http.path}`
  for (const name of [...namesIn(operation.http.path), 'expectedVersion']) delete input[name]
  const headers = headersFor(random)
  if (!hasBody(operation)) return { route, method, path: path + queryOf(input), headers }
  return {
    route,
    method,
    path,
    body: bodyOf(input, random),
    headers: { 'content-type': 'application/json', ...headers },
  }
}

/** A request for the session of a browser, from a page of the server or of another. */
function sessionRequest(random: Random): FuzzRequest {
  const method = random.pick(['GET', 'POST', 'POST', 'DELETE'])
  const site = random.pick(['same-origin', 'same-site', 'cross-site', 'none'])
  const headers = {
    'content-type': random.pick(['application/json', 'application/json', 'text/plain']),
    'sec-fetch-site': site,
    ...(random.chance(0.7) ? { 'x-tooldex-session': '1' } : {}),
    ...(random.chance(0.3)
      ? { cookie: `tooldex_session_${random.below(70_000)}=${'A'.repeat(random.below(3000))}` }
      : {}),
  }
  const body = JSON.stringify({ [random.pick(['key', 'token'])]: hostileValue(random) })
  return { route: `${method} /session`, method, path: '/session', headers, ...(method === 'POST' ? { body } : {}) }
}

function programRequest(random: Random): FuzzRequest {
  const path = `/api/v1/${random.pick(['tools/tooldex:run_code/execute', 'llm/tools/tooldex:run_code/invoke'])}`
  const { input, ...more } = programCall(random)
  const body = JSON.stringify(path.endsWith('invoke') ? { arguments: input } : { input, ...more })
  return { route: `POST ${path}`, method: 'POST', path, body, headers: { 'content-type': 'application/json' } }
}

function inputFor(operation: RoutedOperation, random: Random): Record<string, unknown> {
  const special = specials[operation.name]
  if (special !== undefined && random.chance(0.6)) return special(random)
  const input = structuredClone(random.pick(samplesOf(operation)))
  if (typeof input !== 'object' || input === null) return {}
  const fields = input as Record<string, unknown>
  const names = Object.keys(fields)
  if (names.length > 0 && random.chance(0.4)) fields[random.pick(names)] = hostileValue(random)
  if (random.chance(0.05)) fields.unknownField = hostileValue(random)
  return fields
}

function pathFor({ http: { path } }: RoutedOperation, random: Random, known: Known): string {
  const [, resource = ''] = path.split('/')
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const some = name === 'version' ? ['1', '2', '99'] : (known[resource] ?? [])
    const value = random.chance(0.9) && some.length > 0 ? random.pick(some) : hostileText(random).slice(0, 500)
    return encodeURIComponent(wellFormed(value)) || 'x'
  })
  return `/api/v1${filled}`
}

function queryOf(input: Readonly<Record<string, unknown>>): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(input)) {
    if (value !== undefined) query.set(name, (typeof value === 'string' ? value : JSON.stringify(value)).slice(0, 4000))
  }
  return query.size === 0 ? '' : `?${query}`
}

function bodyOf(input: Readonly<Record<string, unknown>>, random: Random): string {
  const text = JSON.stringify(input)
  if (random.chance(0.01)) return text.slice(0, -1)
  if (random.chance(0.01)) return `[${'['.repeat(random.pick([50, 5000]))}`
  if (random.chance(0.01)) return `{"a":${'1'.repeat(random.pick([20, 100_000]))}}`
  if (random.chance(0.005))
    return JSON.stringify({ input: { list: Array.from({ length: 400_000 }, (_, index) => index) } })
  if (random.chance(0.005)) return JSON.stringify({ input: { text: 'a b '.repeat(1_000_000) } })
  return text
}

const headersFor = (random: Random): Record<string, string> => ({
  ...(random.chance(0.05) ? { 'x-tooldex-toolset': random.pick(['echoes', 'none', '../x']) } : {}),
  ...(random.chance(0.05) ? { 'idempotency-key': `key-${random.below(50)}` } : {}),
  ...(random.chance(0.05) ? { 'if-match': random.pick(['"1"', '*', '"x"', 'W/"2"', '']) } : {}),
  ...(random.chance(0.05) ? { 'if-none-match': '*' } : {}),
  ...(random.chance(0.02) ? { 'content-encoding': random.pick(['gzip', 'br', 'identity']) } : {}),
  ...(random.chance(0.02) ? { 'content-type': random.pick(['text/plain', 'application/json; charset=x', '']) } : {}),
})

const wellFormed = (text: string): string => text.replaceAll(/[\ud800-\udfff]/g, '?')
