import type { ToolContent } from '../contract/registry.ts'
import { readParameters } from '../json-schema/read-parameters.ts'

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
export function positionalNames({
  inputSchema,
  executorType,
  executorConfig: { args },
}: Pick<ToolContent, 'inputSchema' | 'executorType' | 'executorConfig'>): readonly string[] {
  const required = requiredNames(inputSchema)
  if (executorType !== 'cli' || !Array.isArray(args)) return required
  const bare = (args as readonly PositionedArg[]).filter(
    ({ name, positional = false }) => positional !== false || required.includes(name),
  )
  return inPositionalOrder(bare).map(({ name }) => name)
}

/** The required properties of a schema, in the order of its properties. */
export function requiredNames(inputSchema: ToolContent['inputSchema']): readonly string[] {
  const { properties, required } = readParameters(inputSchema)
  return [...properties.keys()].filter((name) => required.has(name))
}
