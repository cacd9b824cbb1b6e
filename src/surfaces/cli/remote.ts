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

/** Asks a server to do an operation: the address, query and body are what its route says. */
export async function invokeRemote<Input extends z.ZodType, Output extends z.ZodType>(
  { url, key }: RemoteServer,
  operation: Operation<Input, Output>,
  input: Record<string, unknown>,
  signal: AbortSignal,
): Promise<z.output<Output>> {
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
    signal: AbortSignal.any([
      signal,
      AbortSignal.timeout(operation.name === 'bundle.import' ? longDeadlineMs : deadlineMs),
    ]),
    redirect: 'error',
  })
  const body: unknown = await response.json().catch(() => undefined)
  if (!response.ok) throw toError(response.status, body)
  return operation.output.parse(body)
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
