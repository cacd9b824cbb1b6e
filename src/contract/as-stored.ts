import * as z from 'zod'

/** The rules under which a value is written, as JSON Schema, for the description of what is read. */
export const writtenAs = z.registry<{ readonly describe: () => object }>()

/**
 * A schema for a stored value: it is typed and described by the rules of writing, and takes every value. A row that was
 * stored under other rules is shown as it is, and lint names what today's rules refuse.
 */
export function asStored<Schema extends z.ZodType>(schema: Schema): Schema {
  const describe = () => {
    const { $schema: _dialect, ...rules } = z.toJSONSchema(schema, { io: 'output', unrepresentable: 'any' })
    return rules
  }
  return z.unknown().register(writtenAs, { describe }) as unknown as Schema
}

/** Every field of an object as it is stored. */
export function fieldsAsStored<Shape extends Readonly<Record<string, z.ZodType>>>(shape: Shape): Shape {
  return Object.fromEntries(Object.entries(shape).map(([name, field]) => [name, asStored(field)])) as Shape
}
