import type { Context } from 'hono'
import * as z from 'zod'
import { TooldexError } from '../../base/errors.ts'
import { isObject } from '../../base/json-values.ts'
import type { Expected } from '../../contract/stores.ts'
import type { BodyLimits } from '../../operations/operation.ts'
import { readExpected } from './entity-tag.ts'
import { readRequestBody } from './read-body.ts'
import { hasBody, hasOwnKey, namesIn, type RoutedOperation } from './routes.ts'

/** The limits of bodies whose operation has no others. */
export const defaultBodyLimits: BodyLimits = { bytes: 4 * 1024 * 1024, depth: 100, values: 20_000 }
const noParameters = new URLSearchParams()

interface Plan {
  readonly names: readonly string[]
  /** The fields that are read from the path and the headers. */
  readonly elsewhere: ReadonlySet<string>
  readonly takesVersion: boolean
}

const plans = new WeakMap<RoutedOperation, Plan>()

/** Caches the parts that are the same for every request of an operation. */
function planOf(operation: RoutedOperation): Plan {
  const cached = plans.get(operation)
  if (cached !== undefined) return cached
  const names = namesIn(operation.http.path)
  const takesVersion = fieldsOf(operation.input).has('expectedVersion')
  const plan = { names, elsewhere: new Set([...names, 'expectedVersion']), takesVersion }
  plans.set(operation, plan)
  return plan
}

/** The input fields that are read from the path and the headers. */
export const fieldsFromRequest = (operation: RoutedOperation): ReadonlySet<string> => planOf(operation).elsewhere

/** Reads the input of an operation: names from the path, the rest from the query or the body. */
export async function readRequest(c: Context, operation: RoutedOperation): Promise<Record<string, unknown>> {
  const { names, elsewhere, takesVersion } = planOf(operation)
  const query = c.req.url.includes('?') ? new URL(c.req.url).searchParams : noParameters
  const fields: Record<string, unknown> = hasBody(operation)
    ? { ...readNone(query), ...(await readObject(c.req.raw, { ...defaultBodyLimits, ...operation.http.body })) }
    : readQuery(operation.input, query, elsewhere)
  rejectReserved(fields, elsewhere)
  const match = readMatch(c.req.header('if-match'), operation, takesVersion)
  for (const name of names) fields[name] = readPathValue(operation.input, name, String(c.req.param(name)))
  const key = readKey(c.req.header('idempotency-key'), operation, fields)
  return { ...fields, ...key, ...match }
}

/** Reads If-Match; rejects it for operations that cannot check it, instead of ignoring it. */
function readMatch(
  header: string | undefined,
  { http: { method } }: RoutedOperation,
  isSupported: boolean,
): { readonly expectedVersion?: Expected } {
  if (header === undefined) return {}
  if (isSupported) return { expectedVersion: readExpected(header) }
  if (method === 'get') return {}
  throw new TooldexError('INPUT_INVALID', 'The header If-Match is not supported by this operation.', {
    hint: 'Omit If-Match: only changes of tools, categories, toolsets and limits support it.',
  })
}

/** The key may be in the header or the body; different keys are rejected. */
function readKey(key: string | undefined, operation: RoutedOperation, fields: Record<string, unknown>) {
  if (key === undefined || !hasOwnKey(operation)) return {}
  if (fields.idempotencyKey === undefined || fields.idempotencyKey === key) return { idempotencyKey: key }
  throw new TooldexError('INPUT_INVALID', 'The header Idempotency-Key and the body have different keys.')
}

function readNone(query: URLSearchParams): Record<string, never> {
  const [name] = query.keys()
  if (name === undefined) return {}
  throw new TooldexError('INPUT_INVALID', `Unknown parameter '${name.slice(0, 100)}'.`, {
    hint: 'Send it in the body.',
  })
}

async function readObject(request: Request, bodyLimits: BodyLimits): Promise<Record<string, unknown>> {
  const fields = await readRequestBody(request, bodyLimits)
  if (fields === undefined) return {}
  if (isObject(fields)) return fields
  throw new TooldexError('INPUT_INVALID', 'The body must be a JSON object.')
}

/** Rejects fields in the query or body that are read from the path or a header. */
function rejectReserved(fields: Record<string, unknown>, elsewhere: ReadonlySet<string>): void {
  const name = Object.keys(fields).find((key) => elsewhere.has(key))
  if (name === undefined) return
  const where = name === 'expectedVersion' ? 'the header If-Match' : 'the path'
  throw new TooldexError('INPUT_INVALID', `'${name}' belongs in ${where}, not in the body.`)
}

interface FieldSchema {
  readonly type?: string | readonly string[]
  readonly items?: FieldSchema
  readonly anyOf?: readonly FieldSchema[]
}

const cache = new WeakMap<z.ZodType, ReadonlyMap<string, FieldSchema>>()

/** The fields of an operation's input with their JSON Schemas. */
function fieldsOf(input: z.ZodType): ReadonlyMap<string, FieldSchema> {
  const cached = cache.get(input)
  if (cached !== undefined) return cached
  const schema = z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' }) as {
    properties?: Record<string, FieldSchema>
  }
  const fields = new Map(Object.entries(schema.properties ?? {}))
  cache.set(input, fields)
  return fields
}

/** Parses the query string by the types of the operation; unknown parameters are rejected. */
function readQuery(input: z.ZodType, query: URLSearchParams, elsewhere: ReadonlySet<string>): Record<string, unknown> {
  const values: Record<string, unknown> = {}
  if (query.size === 0) return values
  const fields = new Map([...fieldsOf(input)].filter(([name]) => !elsewhere.has(name)))
  for (const name of new Set(query.keys())) {
    const field = fields.get(name)
    if (field === undefined) throw unknownName(name, [...fields.keys()])
    const texts = query.getAll(name)
    if (isList(field)) values[name] = readList(texts)
    else if (texts.length > 1)
      throw new TooldexError('INPUT_INVALID', `${name} was sent ${texts.length} times; send it once.`)
    else values[name] = toType(field, texts[0] ?? '')
  }
  return values
}

/** Reads a parameter of the path by its type. */
const readPathValue = (input: z.ZodType, name: string, text: string): unknown =>
  toType(fieldsOf(input).get(name) ?? {}, text)

/** A single value is split at commas; repeated parameters are not split, so that values may contain commas. */
const readList = ([first = '', ...others]: readonly string[]): readonly string[] =>
  (others.length === 0 ? first.split(',') : [first, ...others]).filter((text) => text !== '')

const typesOf = (field: FieldSchema): readonly string[] => [
  ...[field.type ?? []].flat(),
  ...(field.anyOf ?? []).flatMap(typesOf),
]
const isList = (field: FieldSchema): boolean => typesOf(field).includes('array')

/** A text that is not a valid number or boolean stays a string, which the operation rejects. */
function toType(field: FieldSchema, text: string): unknown {
  const types = typesOf(field)
  if ((types.includes('integer') || types.includes('number')) && /^-?\d+(\.\d+)?$/.test(text)) return Number(text)
  if (types.includes('boolean') && (text === 'true' || text === 'false')) return text === 'true'
  return text
}

function unknownName(name: string, names: readonly string[]): TooldexError {
  const excerpt = name.slice(0, 100)
  const hint = names.length === 0 ? 'There are no parameters.' : `Parameters: ${names.join(', ')}.`
  return new TooldexError('INPUT_INVALID', `Unknown parameter '${excerpt}'.`, { hint })
}
