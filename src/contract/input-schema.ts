import { type ArgDef, isList, itemType } from './cli-config.ts'

/** A JSON Schema, as data. */
export type JsonSchema = { readonly [key: string]: unknown }

/** The JSON Schema of a tool's arguments: folder and stdin arguments are in it, global ones are not. */
export function buildInputSchema(args: readonly ArgDef[]): JsonSchema {
  const properties = Object.fromEntries(args.map((arg) => [arg.name, toProperty(arg)]))
  const required = args.filter((arg) => arg.required).map((arg) => arg.name)
  return { type: 'object', properties, ...(required.length > 0 ? { required } : {}) }
}

function toProperty(arg: ArgDef): JsonSchema {
  const type = jsonType(itemType(arg))
  const values = arg.enum != null && arg.enum.length > 0 ? { enum: arg.enum } : {}
  const shape = isList(arg) ? { type: 'array', items: { type, ...values } } : { type }
  return {
    ...shape,
    ...(arg.description === '' ? {} : { description: arg.description }),
    ...(arg.default == null ? {} : { default: arg.default }),
    ...(isList(arg) ? {} : values),
  }
}

const jsonType = (type: ReturnType<typeof itemType>) => (type === 'path' ? 'string' : type)
