import { type ArgDef, isList, itemType, type Scalar } from '../contract/cli-config.ts'
import type { JsonSchema } from '../contract/tool-index.ts'

/** The JSON Schema of a tool's arguments, including cwd and stdin arguments, without global ones. */
export function buildInputSchema(args: readonly ArgDef[]): JsonSchema {
  const properties = Object.fromEntries(args.map((arg) => [arg.name, toProperty(arg)]))
  const required = [...new Set(args.filter((arg) => arg.required).map((arg) => arg.name))]
  return { type: 'object', properties, ...(required.length > 0 ? { required } : {}) }
}

function toProperty(arg: ArgDef): JsonSchema {
  const type = jsonType(itemType(arg))
  const typed = (value: Scalar) => toType(value, type)
  const values = arg.enum != null && arg.enum.length > 0 ? { enum: [...new Set(arg.enum.map(typed))] } : {}
  const shape = isList(arg) ? { type: 'array', items: { type, ...values } } : { type }
  return {
    ...shape,
    ...(arg.description === '' ? {} : { description: arg.description }),
    ...(arg.default == null
      ? {}
      : { default: Array.isArray(arg.default) ? arg.default.map(typed) : typed(arg.default) }),
    ...(isList(arg) ? {} : values),
  }
}

type JsonType = Exclude<ReturnType<typeof itemType>, 'path'>

const jsonType = (type: ReturnType<typeof itemType>): JsonType => (type === 'path' ? 'string' : type)

/** Converts a scalar to the JSON type: YAML may have 1 for a string or "1" for a number, which no JSON value would match. */
function toType(value: Scalar, type: JsonType): Scalar {
  if (type === 'string') return String(value)
  if (typeof value !== 'string' || value.trim() === '') return value
  if (type === 'boolean') return { true: true, false: false }[value.trim().toLowerCase()] ?? value
  return Number.isFinite(Number(value)) ? Number(value) : value
}
