import type { Context } from 'hono'
import { TooldexError } from '../../base/errors.ts'
import type { Expected } from '../../contract/expected.ts'
import { readExpected } from './entity-tag.ts'
import { type BodyLimits, readRequestBody } from './read-body.ts'
import { fieldsOf, readQuery } from './read-input.ts'
import { hasBody, hasOwnKey, namesIn, type RoutedOperation } from './routes.ts'

const limits = { bytes: 4 * 1024 * 1024, depth: 100, values: 20_000 }
// A question is answered word by word, while everybody else waits.
const questionLimits = { bytes: 32 * 1024, depth: 10, values: 10_000 }
const nothing = new URLSearchParams()

interface Plan {
  readonly names: readonly string[]
  /** What the address and the headers say. */
  readonly elsewhere: ReadonlySet<string>
  readonly takesVersion: boolean
}

const plans = new WeakMap<RoutedOperation, Plan>()

/** What is the same for every request of an operation is found out once. */
function planOf(operation: RoutedOperation): Plan {
  const known = plans.get(operation)
  if (known !== undefined) return known
  const names = namesIn(operation.http.path)
  const takesVersion = fieldsOf(operation.input).has('expectedVersion')
  const plan = { names, elsewhere: new Set([...names, 'expectedVersion']), takesVersion }
  plans.set(operation, plan)
  return plan
}

/** What of an operation's input the address and the headers say. */
export const fieldsFromRequest = (operation: RoutedOperation): ReadonlySet<string> => planOf(operation).elsewhere

/** The input of an operation: names from the address, the rest from the query or the body, each thing in one place only. */
export async function readRequest(c: Context, operation: RoutedOperation): Promise<Record<string, unknown>> {
  const { names, elsewhere, takesVersion } = planOf(operation)
  const query = c.req.url.includes('?') ? new URL(c.req.url).searchParams : nothing
  const given: Record<string, unknown> = hasBody(operation)
    ? { ...readNone(query), ...(await readObject(c.req.raw, limitsOf(operation))) }
    : readQuery(operation.input, query, elsewhere)
  refuseElsewhere(given, elsewhere)
  const match = readMatch(c.req.header('if-match'), operation, takesVersion)
  for (const name of names) given[name] = c.req.param(name)
  const key = readKey(c.req.header('idempotency-key'), operation, given)
  return { ...given, ...key, ...match }
}

/** What a change is made on; where that cannot be looked at, nobody is to believe that it was. */
function readMatch(
  header: string | undefined,
  { http: { method } }: RoutedOperation,
  isTaken: boolean,
): { readonly expectedVersion?: Expected } {
  if (header === undefined) return {}
  if (isTaken) return { expectedVersion: readExpected(header) }
  if (method === 'get') return {}
  throw new TooldexError('INPUT_INVALID', 'The header If-Match cannot be held to here.', {
    hint: 'Leave If-Match out: tools and categories alone are changed on condition.',
  })
}

/** A key in the header is a key in the body; two that differ are refused. */
function readKey(key: string | undefined, operation: RoutedOperation, given: Record<string, unknown>) {
  if (key === undefined || !hasOwnKey(operation)) return {}
  if (given.idempotencyKey === undefined || given.idempotencyKey === key) return { idempotencyKey: key }
  throw new TooldexError('INPUT_INVALID', 'The header Idempotency-Key and the body say different keys.')
}

function limitsOf({ http }: RoutedOperation): BodyLimits {
  if (http.tag === 'search') return questionLimits
  const { bodyBytes: bytes = limits.bytes, bodyValues: values = limits.values, bodyHint: hint } = http
  return { ...limits, bytes, values, hint }
}

function readNone(query: URLSearchParams): Record<string, never> {
  const [name] = query.keys()
  if (name === undefined) return {}
  throw new TooldexError('INPUT_INVALID', `Unknown parameter '${name.slice(0, 100)}'.`, {
    hint: 'Send it in the body.',
  })
}

async function readObject(request: Request, most: BodyLimits): Promise<Record<string, unknown>> {
  const given = await readRequestBody(request, most)
  if (given === undefined) return {}
  if (typeof given === 'object' && given !== null && !Array.isArray(given)) return given as Record<string, unknown>
  throw new TooldexError('INPUT_INVALID', 'The body must be a JSON object.')
}

/** What the address or a header says cannot be said again, and differently, by the body. */
function refuseElsewhere(given: Record<string, unknown>, elsewhere: ReadonlySet<string>): void {
  const name = Object.keys(given).find((key) => elsewhere.has(key))
  if (name === undefined) return
  const where = name === 'expectedVersion' ? 'the header If-Match' : 'the address'
  throw new TooldexError('INPUT_INVALID', `'${name}' is said by ${where}, not by the body.`)
}
