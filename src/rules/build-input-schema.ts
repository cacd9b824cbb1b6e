import { type ArgDef, isList, itemType, type Scalar } from '../contract/cli-config.ts'
import type { ToolContent } from '../contract/registry.ts'
import type { JsonSchema } from '../contract/tool-index.ts'
import { readSchemaParameters } from '../json-schema/read-parameters.ts'

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

/** The fields of an argument that determine its position on the command line. */
interface PositionedArg {
  readonly name: string
  readonly positional?: boolean | number
}

/** Arguments in the order of the command line: definition order, except where `positional` is a number. */
export const inPositionalOrder = <Arg extends PositionedArg>(args: readonly Arg[]): readonly Arg[] =>
  args.toSorted((a, b) => rankOf(a) - rankOf(b))

/** The arguments of a config's tool that `tooldex call` takes without a flag, in their order. */
export const bareNames = (args: readonly PositionedArg[]): readonly string[] =>
  inPositionalOrder(args.filter(({ positional = false }) => positional !== false)).map(({ name }) => name)

const rankOf = ({ positional }: PositionedArg): number => (typeof positional === 'number' ? positional : 0)

/**
 * The arguments that `tooldex call` takes without a flag, in their order: the executor's own for a command-line program, the
 * required properties of the schema otherwise.
 */
export function positionalArgumentNames({
  inputSchema,
  executorType,
  executorConfig: { args },
}: Pick<ToolContent, 'inputSchema' | 'executorType' | 'executorConfig'>): readonly string[] {
  const required = requiredArgumentNames(inputSchema)
  if (executorType !== 'cli' || !Array.isArray(args)) return required
  const bare = (args as readonly PositionedArg[]).filter(
    ({ name, positional = false }) => positional !== false || required.includes(name),
  )
  return inPositionalOrder(bare).map(({ name }) => name)
}

/** The required properties of a schema, in the order of its properties. */
export function requiredArgumentNames(inputSchema: ToolContent['inputSchema']): readonly string[] {
  const { properties, required } = readSchemaParameters(inputSchema)
  return [...properties.keys()].filter((name) => required.has(name))
}
