import type * as z from 'zod'
import { type ErrorCode, errorTable, TooldexError } from '../../base/errors.ts'
import { lazyModule } from '../../base/lazy-module.ts'
import { type Problem, toPointer } from '../../base/problem.ts'
import { toProblemError } from '../../diagnostics/problem-error.ts'
import type { Operation } from '../operation.ts'
import { recoveryHint } from '../registry/keys.ts'
import type { RegistryClient, RequestControls } from './registry-client.ts'

const loadCallRemote = lazyModule(() => import('./call-remote.ts'))
const loadFollowRemote = lazyModule(() => import('./follow-remote.ts'))

/** The server that operations are sent to; the URL is read for each request, because a restart may change it. */
export interface RemoteServer {
  readonly url: string
  readonly key: string | undefined
  /** The trace that requests belong to. */
  readonly traceparent?: string | undefined
}

/** Runs operations on a server. */
export function openRemote(server: RemoteServer, ending: AbortSignal): RegistryClient {
  const until = (signal: AbortSignal | undefined) => (signal === undefined ? ending : AbortSignal.any([ending, signal]))
  return {
    invoke: (operation, input, { signal, trace }: RequestControls = {}) =>
      invokeRemote(traced(server, trace), operation, input, until(signal)),
    call: async (call, controls) => {
      const { callRemote } = await loadCallRemote()
      return callRemote(traced(server, controls.trace), call, controls, until(controls.signal))
    },
    async *follow(id) {
      yield* (await loadFollowRemote()).followRemote(server, id, ending)
    },
    close: async () => {},
  }
}

/** The same server, for the requests of one trace. */
const traced = (server: RemoteServer, trace: RequestControls['trace']): RemoteServer =>
  trace?.traceparent === undefined ? server : Object.create(server, { traceparent: { value: trace.traceparent } })

const defaultDeadlineMs = 60_000

/** Runs an operation on a server. */
export async function invokeRemote<Input extends z.ZodType, Output extends z.ZodType>(
  remote: RemoteServer,
  operation: Operation<Input, Output>,
  input: Record<string, unknown>,
  signal: AbortSignal,
): Promise<z.output<Output>> {
  const late = AbortSignal.timeout(operation.http?.deadlineMs ?? defaultDeadlineMs)
  const response = await requestRemote(remote, operation, input, AbortSignal.any([signal, late]))
  return operation.output.parse(await response.json().catch(() => undefined))
}

/** Sends the request of an operation with the path, query and body of its route; an error response is thrown. */
export function requestRemote(
  server: RemoteServer,
  operation: Pick<Operation<z.ZodType, z.ZodType>, 'name' | 'http'>,
  input: Record<string, unknown>,
  signal: AbortSignal,
): Promise<Response> {
  if (operation.http === undefined)
    throw new TooldexError('USAGE', `${operation.name} is not available on a server; omit --server.`)
  const { method, path } = operation.http
  const rest = { ...input }
  const address = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = rest[name]
    delete rest[name]
    return toSegment(name, String(value))
  })
  const { expectedVersion, ...fields } = rest
  const hasBody = method !== 'get' && method !== 'delete'
  const query = hasBody ? '' : toQuery(fields)
  return requestServer(server, `${address}${query}`, {
    method: method.toUpperCase(),
    headers: {
      ...(hasBody ? { 'content-type': 'application/json' } : {}),
      ...(expectedVersion === undefined
        ? {}
        : { 'if-match': typeof expectedVersion === 'number' ? `"${expectedVersion}"` : String(expectedVersion) }),
    },
    ...(hasBody ? { body: JSON.stringify(fields) } : {}),
    signal,
  })
}

/** One segment of a path. The URL parser resolves `.` and `..`, encoded ones too, so that they would name another route. */
export function toSegment(name: string, text: string): string {
  const isDots = text === '.' || text === '..'
  if (!isDots && text !== '' && !loneSurrogate.test(text)) return encodeURIComponent(text)
  const message =
    text === '' ? `${name} must not be empty` : `${name} must not be ${isDots ? `'${text}'` : 'damaged text'}`
  const problem = { severity: 'error', pointer: toPointer([name]), message } as const
  throw toProblemError({ code: 'INPUT_INVALID', what: 'The input', problems: [problem] })
}

const loneSurrogate = /\p{Surrogate}/u

/** Sends one request below /api/v1 and throws the error of an error response. */
export async function requestServer(server: RemoteServer, path: string, init: RequestInit): Promise<Response> {
  const { url, key, traceparent } = server
  const headers = {
    ...init.headers,
    ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
    ...(traceparent === undefined ? {} : { traceparent }),
  }
  const response = await send(`${url.replace(/\/+$/, '')}/api/v1${path}`, { ...init, headers, redirect: 'error' })
  if (response.ok) return response
  throw toError(url, response.status, await response.json().catch(() => undefined))
}

async function send(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init)
  } catch (cause) {
    throw new TooldexError('UNAVAILABLE', `The server at ${new URL(url).origin} does not answer.`, {
      hint: 'Start it with: tooldex serve, then try again.',
      cause,
    })
  }
}

function toQuery(fields: Record<string, unknown>): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined || value === null) continue
    for (const each of Array.isArray(value) ? value : [value]) query.append(name, String(each))
    // A single value with a comma would be parsed as two, unless the name is repeated.
    if (Array.isArray(value) && value.length === 1) query.append(name, '')
  }
  const text = query.toString()
  return text === '' ? '' : `?${text}`
}

/** Converts an error response to the corresponding error. */
function toError(url: string, status: number, body: unknown): TooldexError {
  const { code, detail, hint, errors, id } = (body ?? {}) as {
    code?: string
    detail?: string
    hint?: string
    errors?: Problem[]
    id?: string
  }
  if (code === undefined || !Object.hasOwn(errorTable, code))
    return new TooldexError('UNAVAILABLE', `The server returned HTTP ${status} without an error code.`, {
      hint: 'Check that the URL belongs to a Tooldex server.',
    })
  const isKey = code === 'UNAUTHORIZED'
  const nextStep = isKey ? `Set TOOLDEX_API_KEY to a valid key. ${recoveryHint}` : hint
  return new TooldexError(code as ErrorCode, `${isKey ? `The server at ${url}: ` : ''}${detail ?? code}`, {
    problems: errors ?? [],
    ...(nextStep === undefined ? {} : { hint: nextStep }),
    ...(id === undefined ? {} : { id }),
  })
}
