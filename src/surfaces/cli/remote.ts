import type * as z from 'zod'
import { type ErrorCode, errorTable, TooldexError } from '../../base/errors.ts'
import type { Problem } from '../../base/problem.ts'
import type { Operation } from '../../operations/operation.ts'

/** A server to ask instead of doing it here. */
export interface RemoteServer {
  readonly url: string
  readonly key: string | undefined
}

const deadlineMs = 60_000
// A bundle may hold thousands of tools.
const longDeadlineMs = 600_000

/** Asks a server to do an operation. */
export async function invokeRemote<Input extends z.ZodType, Output extends z.ZodType>(
  remote: RemoteServer,
  operation: Operation<Input, Output>,
  input: Record<string, unknown>,
  signal: AbortSignal,
): Promise<z.output<Output>> {
  const late = AbortSignal.timeout(operation.name === 'bundle.import' ? longDeadlineMs : deadlineMs)
  const response = await requestRemote(remote, operation, input, AbortSignal.any([signal, late]))
  return operation.output.parse(await response.json().catch(() => undefined))
}

/** Sends the request of an operation, with the address, query and body that its route says; a refusal is thrown. */
export async function requestRemote(
  { url, key }: RemoteServer,
  operation: Pick<Operation<z.ZodType, z.ZodType>, 'name' | 'http'>,
  input: Record<string, unknown>,
  signal: AbortSignal,
): Promise<Response> {
  if (operation.http === undefined)
    throw new TooldexError('USAGE', `${operation.name} cannot be asked of a server; leave --server out.`)
  const { method, path } = operation.http
  const rest = { ...input }
  const address = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = rest[name]
    delete rest[name]
    return encodeURIComponent(String(value))
  })
  const { expectedVersion, ...fields } = rest
  const hasBody = method !== 'get' && method !== 'delete'
  const query = hasBody ? '' : toQuery(fields)
  const response = await ask(`${url.replace(/\/+$/, '')}/api/v1${address}${query}`, {
    method: method.toUpperCase(),
    headers: {
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...(hasBody ? { 'content-type': 'application/json' } : {}),
      ...(expectedVersion === undefined ? {} : { 'if-match': `"${String(expectedVersion)}"` }),
    },
    ...(hasBody ? { body: JSON.stringify(fields) } : {}),
    signal,
    redirect: 'error',
  })
  if (!response.ok) throw toError(response.status, await response.json().catch(() => undefined))
  return response
}

async function ask(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init)
  } catch (cause) {
    throw new TooldexError('UNAVAILABLE', `The server at ${new URL(url).origin} does not answer.`, {
      hint: 'Start it with: tooldex serve',
      cause,
    })
  }
}

function toQuery(fields: Record<string, unknown>): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined || value === null) continue
    for (const each of Array.isArray(value) ? value : [value]) query.append(name, String(each))
    // One value with a comma would be read as two, unless its name is there again.
    if (Array.isArray(value) && value.length === 1) query.append(name, '')
  }
  const text = query.toString()
  return text === '' ? '' : `?${text}`
}

/** What the server said, as the error it stands for here. */
function toError(status: number, body: unknown): TooldexError {
  const { code, detail, hint, errors } = (body ?? {}) as {
    code?: string
    detail?: string
    hint?: string
    errors?: Problem[]
  }
  if (code === undefined || !Object.hasOwn(errorTable, code))
    return new TooldexError('UNAVAILABLE', `The server answered ${status} without saying why.`, {
      hint: 'Check that the address is that of a Tooldex server.',
    })
  return new TooldexError(code as ErrorCode, detail ?? code, {
    problems: errors ?? [],
    ...(hint === undefined ? {} : { hint }),
  })
}
