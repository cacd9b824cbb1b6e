/** One property of an input schema. */
export interface SchemaRow {
  readonly name: string
  readonly property: Readonly<Record<string, unknown>>
  readonly isRequired: boolean
}

type Schema = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The properties of a schema; undefined for a schema that is not a plain object of properties. */
export function rowsOfSchema({ properties = {}, required = [] }: Schema): readonly SchemaRow[] | undefined {
  if (!isObject(properties) || !Array.isArray(required)) return undefined
  const entries = Object.entries(properties)
  if (!entries.every((entry): entry is [string, Schema] => isObject(entry[1]))) return undefined
  return entries.map(([name, property]) => ({ name, property, isRequired: required.includes(name) }))
}

/** The schema with other properties; everything else in it stays. */
export function withRows(schema: Schema, rows: readonly SchemaRow[]): Schema {
  const properties = Object.fromEntries(rows.map(({ name, property }) => [name, property]))
  const required = rows.flatMap(({ name, isRequired }) => (isRequired ? [name] : []))
  // Existing keys keep their order, which agents read.
  const next = { ...(schema.type === undefined && { type: 'object' }), ...schema, properties, required }
  return required.length > 0 ? next : Object.fromEntries(Object.entries(next).filter(([key]) => key !== 'required'))
}

/** A new property, with a name that is free. */
export function newRow(rows: readonly SchemaRow[]): SchemaRow {
  const names = new Set(rows.map(({ name }) => name))
  let name = 'argument'
  for (let count = 2; names.has(name); count++) name = `argument_${count}`
  return { name, property: { type: 'string' }, isRequired: false }
}
