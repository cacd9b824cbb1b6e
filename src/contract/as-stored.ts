import * as z from 'zod'

/** The JSON Schema of a value at the time of writing, which documents the value when it is read. */
export const writtenAs = z.registry<{ readonly describe: () => object }>()

/**
 * A schema for a stored value: typed and documented by the schema for writing, but accepting every value. A row that was
 * stored under earlier rules is returned unchanged, and lint reports violations of the current rules.
 */
export function asStored<Schema extends z.ZodType>(schema: Schema): Schema {
  const describe = () => {
    const { $schema: _dialect, ...rules } = z.toJSONSchema(schema, { io: 'output', unrepresentable: 'any' })
    return rules
  }
  return z.unknown().register(writtenAs, { describe }) as unknown as Schema
}

/** Applies `asStored` to every field of an object. */
export function fieldsAsStored<Shape extends Readonly<Record<string, z.ZodType>>>(shape: Shape): Shape {
  return Object.fromEntries(Object.entries(shape).map(([name, field]) => [name, asStored(field)])) as Shape
}
