import { TooldexError } from '../base/errors.ts'
import { toPointer } from '../base/problem.ts'

/** The route of an operation, as far as its client needs it. Names in braces are path parameters. */
export interface ClientRoute {
  readonly method: 'get' | 'post' | 'patch' | 'put' | 'delete'
  readonly path: string
  /** Whether a repetition has no further effect, whatever the method: the operation only reads. */
  readonly reads?: boolean
  /** Whether requests with the same Idempotency-Key run once. */
  readonly keyed?: boolean
  /** How long the response may take, if longer than a minute. */
  readonly deadlineMs?: number
  /** The media type of a response that is a stream. */
  readonly media?: string
}

/** A request below `/api/v1`. */
export interface RestRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | undefined
}

/** The request of an operation with the path, query, headers and body of its route. */
export function toRestRequest({ method, path }: ClientRoute, input: Readonly<Record<string, unknown>>): RestRequest {
  const rest = { ...input }
  const address = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = rest[name]
    delete rest[name]
    return toPathSegment(name, String(value ?? ''))
  })
  const { expectedVersion, ...fields } = rest
  const hasBody = method !== 'get' && method !== 'delete'
  return {
    method: method.toUpperCase(),
    path: hasBody ? address : address + toQuery(fields),
    headers: {
      ...(hasBody ? { 'content-type': 'application/json' } : {}),
      ...(expectedVersion == null
        ? {}
        : { 'if-match': typeof expectedVersion === 'number' ? `"${expectedVersion}"` : String(expectedVersion) }),
    },
    ...(hasBody ? { body: JSON.stringify(fields) } : {}),
  }
}

/** One segment of a path. The URL parser resolves `.` and `..`, encoded ones too, so that they would name another route. */
export function toPathSegment(name: string, text: string): string {
  const isDots = text === '.' || text === '..'
  if (!isDots && text !== '' && !loneSurrogate.test(text)) return encodeURIComponent(text)
  const message =
    text === '' ? `${name} must not be empty` : `${name} must not be ${isDots ? `'${text}'` : 'damaged text'}`
  const problems = [{ severity: 'error', pointer: toPointer([name]), message } as const]
  throw new TooldexError('INPUT_INVALID', `The input was refused: ${message}.`, { problems })
}

const loneSurrogate = /\p{Surrogate}/u

function toQuery(fields: Readonly<Record<string, unknown>>): string {
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
