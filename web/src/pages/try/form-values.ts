/** A JSON Schema, as far as a form reads it. */
export interface FormSchema {
  readonly type?: string | readonly string[]
  readonly title?: string
  readonly description?: string
  readonly enum?: readonly unknown[]
  readonly default?: unknown
  readonly minimum?: number
  readonly maximum?: number
  readonly maxLength?: number
  readonly format?: string
  readonly items?: FormSchema
  readonly properties?: Readonly<Record<string, FormSchema>>
  readonly required?: readonly string[]
}

/** How a field is filled in. */
export type FieldKind = 'choice' | 'boolean' | 'integer' | 'number' | 'text' | 'json'

/** One field of a form. */
export interface FormField {
  readonly name: string
  readonly kind: FieldKind
  readonly schema: FormSchema
  readonly isRequired: boolean
}

/** The text of each field; absent or empty fields are not sent. */
export type FormValues = Readonly<Record<string, string>>

/** The input that a form makes, or what is wrong with its fields. */
export interface FormInput {
  readonly input: Readonly<Record<string, unknown>>
  readonly errors: Readonly<Record<string, string>>
}

/** The fields of an input schema, required ones first. */
export function fieldsOf(schema: FormSchema): readonly FormField[] {
  const required = new Set(schema.required)
  const fields = Object.entries(schema.properties ?? {}).map(([name, property]) => ({
    name,
    kind: kindOf(property),
    schema: property,
    isRequired: required.has(name),
  }))
  return fields.sort((a, b) => Number(b.isRequired) - Number(a.isRequired))
}

function kindOf({ type, enum: values }: FormSchema): FieldKind {
  if (values !== undefined) return 'choice'
  const types = [type ?? []].flat().filter((each) => each !== 'null')
  const [only] = types
  if (types.length !== 1) return 'json'
  if (only === 'boolean' || only === 'integer' || only === 'number') return only
  return only === 'string' ? 'text' : 'json'
}

/** Converts the texts of a form into the input of a call. The server validates it; here only texts that are no value are found. */
export function toInput(fields: readonly FormField[], values: FormValues): FormInput {
  const input: Record<string, unknown> = {}
  const errors: Record<string, string> = {}
  for (const field of fields) {
    const text = values[field.name] ?? ''
    if (text === '') {
      if (field.isRequired && field.kind !== 'text') errors[field.name] = 'This field is required.'
      else if (field.isRequired && values[field.name] === undefined) errors[field.name] = 'This field is required.'
      else if (field.isRequired) input[field.name] = ''
      continue
    }
    const read = readValue(field, text)
    if ('error' in read) errors[field.name] = read.error
    else input[field.name] = read.value
  }
  return { input, errors }
}

function readValue(
  { kind, schema }: FormField,
  text: string,
): { readonly value: unknown } | { readonly error: string } {
  if (kind === 'text') return { value: text }
  if (kind === 'boolean') return { value: text === 'true' }
  if (kind === 'choice') {
    // A value may be null.
    const chosen = (schema.enum ?? []).filter((value) => textOf(value) === text)
    return { value: chosen.length === 0 ? text : chosen[0] }
  }
  if (kind === 'json') return parseJson(text)
  const number = Number(text)
  if (Number.isNaN(number) || text.trim() === '') return { error: `"${text}" is not a number.` }
  if (kind === 'integer' && !Number.isInteger(number)) return { error: `${text} is not an integer.` }
  return { value: number }
}

function parseJson(text: string): { readonly value: unknown } | { readonly error: string } {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return { error: 'This is not valid JSON. Write texts in double quotes.' }
  }
}

/** The text of a value in a field. */
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

/** The texts of an input, for the fields of a form. */
export function toValues(fields: readonly FormField[], input: Readonly<Record<string, unknown>>): FormValues {
  const values = fields.flatMap(({ name, kind }): [string, string][] => {
    const value = input[name]
    if (value === undefined) return []
    return [[name, kind === 'json' ? JSON.stringify(value, null, 2) : textOf(value)]]
  })
  return Object.fromEntries(values)
}

/** Whether a form can show an input: every argument has a field. */
export const fitsForm = (fields: readonly FormField[], input: Readonly<Record<string, unknown>>): boolean =>
  Object.keys(input).every((name) => fields.some((field) => field.name === name))
