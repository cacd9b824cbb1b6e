import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { Context } from 'hono'
import * as z from 'zod'
import { TooldexError } from '../../base/errors.ts'
import { isObject } from '../../base/json-values.ts'
import type { Expected } from '../../contract/stores.ts'
import { readJsonInTurns } from '../../json-schema/offload/json-work.ts'
import type { BodyLimits } from '../../operations/operation.ts'
import { parseIfMatch } from './json-response.ts'
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
  if (isSupported) return { expectedVersion: parseIfMatch(header) }
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

type SizeLimit = Omit<BodyLimits, 'depth' | 'values'>

// An oversized body is read up to this size, so that the client receives the response.
const maxDiscarded = 64 * 1024 * 1024

/** Reads the JSON body of a request; undefined without a body. */
export async function readRequestBody(request: Request, limits: BodyLimits): Promise<unknown> {
  if (declaredLength(request) === undefined && request.body === null) return undefined
  const bytes = await readBytes(request, limits)
  if (bytes.length === 0) return undefined
  if (!isJson(request.headers.get('content-type')))
    throw new TooldexError('MEDIA_TYPE', 'The body must be JSON with the content type application/json.')
  return parse(bytes, limits)
}

/** Distinguishes invalid JSON from JSON that exceeds the limits. */
async function parse(
  bytes: Uint8Array<ArrayBuffer>,
  { bytes: maxBytes, depth: maxDepth, values: maxValues, hint: sizeHint }: BodyLimits,
): Promise<unknown> {
  try {
    return await readJsonInTurns(bytes, { maxBytes, maxDepth, maxValues })
  } catch (error) {
    if (!(error instanceof TooldexError)) throw error
    if (error.code === 'TOO_LARGE') throw new TooldexError('TOO_LARGE', error.message, { hint: sizeHint ?? error.hint })
    const { message, problems, hint } = error
    throw new TooldexError('BODY_INVALID', message, { problems, hint })
  }
}

/** Requires a JSON content type, which a form of another site cannot send without a CORS preflight. */
const isJson = (type: string | null): boolean => /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(type ?? '')

/** Never buffers more than the limit, which applies to the decompressed body. */
async function readBytes(request: Request, limit: SizeLimit): Promise<Uint8Array<ArrayBuffer>> {
  const packed = isPacked(request.headers.get('content-encoding'))
  const length = declaredLength(request)
  if (length !== undefined && length > limit.bytes) throw tooLarge(limit)
  const bytes = length === undefined ? await collect(request, limit) : await readAll(request)
  return packed ? unpack(bytes, limit) : bytes
}

/** The length of the body by its header, which the HTTP parser of the server enforces. */
function declaredLength(request: Request): number | undefined {
  const text = request.headers.get('content-length')
  return text !== null && /^\d+$/.test(text) ? Number(text) : undefined
}

/** Reads a body of bounded length without a stream, which costs more than the rest of a short request. */
async function readAll(request: Request): Promise<Uint8Array<ArrayBuffer>> {
  try {
    return new Uint8Array(await request.arrayBuffer())
  } catch {
    throw unreadable()
  }
}

const unreadable = (): TooldexError => new TooldexError('BODY_INVALID', 'The body could not be read to its end.')

async function collect(request: Request, limit: SizeLimit): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array[] = []
  let size = 0
  try {
    for await (const part of request.body ?? []) {
      size += part.length
      if (size <= limit.bytes) parts.push(part)
      else parts.length = 0
      if (size > maxDiscarded) break
    }
  } catch {
    throw unreadable()
  }
  if (size > limit.bytes) throw tooLarge(limit)
  return Buffer.concat(parts)
}

/** Reads an unused body to its end: a client that is still sending would otherwise lose the response. */
export async function discardBody(request: Request): Promise<void> {
  if (request.method === 'GET' || request.method === 'HEAD' || request.bodyUsed || request.body === null) return
  await collect(request, { bytes: 0 }).catch(() => {})
}

function isPacked(encoding: string | null): boolean {
  const named = (encoding ?? 'identity').trim().toLowerCase()
  if (named === 'gzip' || named === 'x-gzip') return true
  if (named === 'identity' || named === '') return false
  throw new TooldexError('MEDIA_TYPE', `The encoding '${named.slice(0, 40)}' is not supported.`)
}

async function unpack(bytes: Uint8Array<ArrayBuffer>, limit: SizeLimit): Promise<Uint8Array<ArrayBuffer>> {
  try {
    return await promisify(gunzip)(bytes, { maxOutputLength: limit.bytes })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(limit)
    throw new TooldexError('BODY_INVALID', 'The body is not valid gzip.')
  }
}

const tooLarge = ({ bytes, hint }: SizeLimit): TooldexError =>
  new TooldexError(
    'TOO_LARGE',
    `The body is larger than ${Math.round(bytes / 1024)} KiB.`,
    hint === undefined ? {} : { hint },
  )
