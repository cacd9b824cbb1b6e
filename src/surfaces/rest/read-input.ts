import * as z from 'zod'
import { TooldexError } from '../../base/errors.ts'

interface FieldSchema {
  readonly type?: string | readonly string[]
  readonly items?: FieldSchema
  readonly anyOf?: readonly FieldSchema[]
}

const known = new WeakMap<z.ZodType, ReadonlyMap<string, FieldSchema>>()

/** The fields of an operation's input, with what JSON Schema says of them. */
export function fieldsOf(input: z.ZodType): ReadonlyMap<string, FieldSchema> {
  const seen = known.get(input)
  if (seen !== undefined) return seen
  const schema = z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' }) as {
    properties?: Record<string, FieldSchema>
  }
  const fields = new Map(Object.entries(schema.properties ?? {}))
  known.set(input, fields)
  return fields
}

/** What stands behind the question mark, as the types that the operation takes; a name it does not know is refused. */
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
    const given = query.getAll(name)
    if (isList(field)) values[name] = readList(given)
    else if (given.length > 1) throw new TooldexError('INPUT_INVALID', `${name} is given ${given.length} times.`)
    else values[name] = toType(field, given[0] ?? '')
  }
  return values
}

/** Written once, commas part the values; where the name is repeated each is taken whole, so that one may have a comma. */
const readList = ([first = '', ...others]: readonly string[]): readonly string[] =>
  (others.length === 0 ? first.split(',') : [first, ...others]).filter((text) => text !== '')

const typesOf = (field: FieldSchema): readonly string[] => [
  ...[field.type ?? []].flat(),
  ...(field.anyOf ?? []).flatMap(typesOf),
]
const isList = (field: FieldSchema): boolean => typesOf(field).includes('array')

/** A text that is no number or truth value stays what it is, for the operation to refuse. */
function toType(field: FieldSchema, text: string): unknown {
  const types = typesOf(field)
  if ((types.includes('integer') || types.includes('number')) && /^-?\d+(\.\d+)?$/.test(text)) return Number(text)
  if (types.includes('boolean') && (text === 'true' || text === 'false')) return text === 'true'
  return text
}

function unknownName(name: string, names: readonly string[]): TooldexError {
  const shown = name.slice(0, 100)
  const hint = names.length === 0 ? 'It takes none.' : `It takes: ${names.join(', ')}.`
  return new TooldexError('INPUT_INVALID', `Unknown parameter '${shown}'.`, { hint })
}
