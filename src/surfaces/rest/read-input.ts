import * as z from 'zod'
import { TooldexError } from '../../base/errors.ts'

interface FieldSchema {
  readonly type?: string | readonly string[]
  readonly items?: FieldSchema
  readonly anyOf?: readonly FieldSchema[]
}

const cache = new WeakMap<z.ZodType, ReadonlyMap<string, FieldSchema>>()

/** The fields of an operation's input with their JSON Schemas. */
export function fieldsOf(input: z.ZodType): ReadonlyMap<string, FieldSchema> {
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
export function readQuery(
  input: z.ZodType,
  query: URLSearchParams,
  elsewhere: ReadonlySet<string>,
): Record<string, unknown> {
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
export const readPathValue = (input: z.ZodType, name: string, text: string): unknown =>
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
