import type { ErrorObject } from 'ajv'
import type { ProblemKind } from '../base/problem.ts'
import { suggestWithin } from '../base/suggest.ts'
import type { WorkBudget } from '../base/work-budget.ts'
import { formatPath } from '../diagnostics/zod-issues.ts'
import { isSchemaObject } from './walk-schema.ts'

/** One error of the validator in plain words. */
export interface ErrorDescription {
  readonly path: readonly PropertyKey[]
  readonly message: string
  readonly hint?: string
  readonly kind?: ProblemKind
  /** What the value itself must be, where the message says that it must be something. */
  readonly expected?: string
}

type Params = Readonly<Record<string, unknown>>
type Words = Pick<ErrorDescription, 'message' | 'kind' | 'expected'>
type Sayer = (field: string, params: Params, error: ErrorObject) => string | Words

const counted = (unit: string, word: 'least' | 'most'): Sayer => {
  return (field, { limit }) => ({
    message: `${field} must have at ${word} ${String(limit)} ${limit === 1 ? unit : plural(unit)}`,
    ...(word === 'most' ? { kind: 'too-long' } : {}),
  })
}
const mustBe = (field: string, expected: string, found = ''): Words => ({
  message: `${field} must be ${expected}${found}`,
  expected,
})
const plural = (unit: string) => unit.replace(/y$/, 'ie').concat('s')
const compared: Sayer = (field, { comparison, limit }) =>
  mustBe(field, `${bounds[String(comparison)] ?? String(comparison)} ${String(limit)}`)
const bounds: Readonly<Record<string, string>> = {
  '<=': 'at most',
  '>=': 'at least',
  '<': 'less than',
  '>': 'more than',
}

const sayers: Readonly<Record<string, Sayer>> = {
  type: (field, { type }, { data }) => {
    const [first = '', ...others] = typesOf(type).map((name) => words[name] ?? name)
    const kind = kinds[typesOf(type)[0] ?? '']
    const said = mustBe(field, [first, ...others].join(' or '), `, not ${kindOf(data)}`)
    return kind === undefined ? said : { ...said, kind }
  },
  minimum: compared,
  maximum: compared,
  exclusiveMinimum: compared,
  exclusiveMaximum: compared,
  multipleOf: (field, _, { schema }) => mustBe(field, `a multiple of ${String(schema)}`),
  minLength: counted('character', 'least'),
  maxLength: counted('character', 'most'),
  minItems: counted('entry', 'least'),
  maxItems: counted('entry', 'most'),
  items: counted('entry', 'most'),
  unevaluatedItems: (field) => `${field} has more entries than are allowed`,
  minProperties: counted('property', 'least'),
  maxProperties: counted('property', 'most'),
  pattern: (field, { pattern }) => `${field} must match the pattern ${String(pattern)}`,
  uniqueItems: (field) => `${field} has the same entry twice`,
  contains: (field, { minContains, maxContains }) =>
    `${field} must have ${containsWords(minContains, maxContains)} of the kind it asks for`,
  const: (field, _, { schema }) => mustBe(field, short(schema)),
  not: (field) => `${field} has a value that is not allowed`,
  if: (field, { failingKeyword }) => `${field} does not fit what the schema asks for under ${String(failingKeyword)}`,
  'false schema': (field) => `${field} is not allowed`,
  propertyNames: (field, { propertyName }) => `${field} may not have a property called '${String(propertyName)}'`,
}

/** How errors are described: suggestions spend steps of the budget, and `root` names the whole value. */
export interface SayOptions {
  readonly budget: WorkBudget
  readonly root: string
}

/** What an error of the validator means to the author of the value. */
export function describeError(error: ErrorObject, { budget, root }: SayOptions): ErrorDescription {
  const { keyword, params } = error
  const path = readPath(error.instancePath)
  const missing = String(params.missingProperty)
  if (keyword === 'required')
    return { path: [...path, missing], message: `${formatPath([...path, missing])} is required`, kind: 'required' }
  if (keyword === 'dependentRequired') {
    const message = `${formatPath([...path, missing])} is required where '${String(params.property)}' is given`
    return { path: [...path, missing], message }
  }
  const extra: unknown = params.additionalProperty ?? params.unevaluatedProperty
  if (typeof extra === 'string') return sayUnknown(extra, error, { path, budget, root })
  if (keyword === 'enum') return sayEnum(error, { path, budget, root })
  const field = error.propertyName === undefined ? formatPath(path, root) : `the property name '${error.propertyName}'`
  const said = sayers[keyword]?.(field, params, error) ?? `${field} does not fit the schema`
  if (typeof said === 'string') return { path, message: said }
  // The name of a property is not the value at the path.
  const { expected, ...others } = said
  return { path, ...others, ...(expected === undefined || error.propertyName !== undefined ? {} : { expected }) }
}

interface Where extends SayOptions {
  readonly path: readonly PropertyKey[]
}

function sayUnknown(name: string, error: ErrorObject, { path, budget, root }: Where): ErrorDescription {
  const properties: unknown = error.parentSchema?.properties
  const known = isSchemaObject(properties) ? Object.keys(properties) : []
  const near = suggestWithin(name, known, budget)
  const meant = near === undefined ? '' : `; did you mean '${near}'?`
  const where = path.length === 0 ? '' : ` in ${formatPath(path, root)}`
  const hint = known.length === 0 ? {} : { hint: `it takes: ${known.slice(0, 20).join(', ')}` }
  return { path: [...path, name], message: `unknown property '${name.slice(0, 100)}'${where}${meant}`, ...hint }
}

function sayEnum({ schema, data }: ErrorObject, { path, budget, root }: Where): ErrorDescription {
  const allowed: readonly unknown[] = Array.isArray(schema) ? schema : []
  const more = allowed.length > 20 ? `, and ${allowed.length - 20} more` : ''
  const texts = allowed.filter((value) => typeof value === 'string')
  const near = typeof data === 'string' ? suggestWithin(data.slice(0, 100), texts, budget) : undefined
  const said = mustBe(formatPath(path, root), `one of: ${allowed.slice(0, 20).map(short).join(', ')}${more}`)
  return { path, ...said, ...(near === undefined ? {} : { hint: `Did you mean '${near}'?` }) }
}

const short = (value: unknown) => {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > 80 ? `${text.slice(0, 79)}…` : text
}

function containsWords(least: unknown, most: unknown): string {
  if (most === undefined || most === null) return `at least ${String(least)} ${least === 1 ? 'entry' : 'entries'}`
  return `between ${String(least)} and ${String(most)} entries`
}

const words: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  null: 'null',
}

const kinds: Readonly<Record<string, ProblemKind>> = {
  string: 'not-string',
  number: 'not-number',
  integer: 'not-number',
  boolean: 'not-boolean',
  array: 'not-array',
  object: 'not-object',
}

const typesOf = (type: unknown): readonly string[] => (Array.isArray(type) ? type.map(String) : String(type).split(','))

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  if (typeof value === 'number') return String(value)
  return words[Array.isArray(value) ? 'array' : typeof value] ?? 'that'
}

/** The parts of a JSON pointer. */
export function readPath(pointer: string): readonly PropertyKey[] {
  const parts = pointer.split('/').slice(1)
  return parts.map((part) => (/^\d{1,9}$/.test(part) ? Number(part) : part.replaceAll('~1', '/').replaceAll('~0', '~')))
}
