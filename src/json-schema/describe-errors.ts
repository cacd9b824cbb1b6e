import type { ErrorObject } from 'ajv'
import { isObject } from '../base/json-values.ts'
import { fromPointer, type Problem, type ProblemKind, toPointer } from '../base/problem.ts'
import { suggestWithinBudget } from '../base/suggest.ts'
import { suggestionSteps, WorkBudget } from '../base/work-budget.ts'
import { formatIssuePath } from '../diagnostics/zod-issues.ts'
import { schemaLimits } from './limits.ts'

/** All errors of a validation as problems; a failed anyOf or oneOf is one problem, not one for each branch. */
export function describeErrors(errors: readonly ErrorObject[], root: string): readonly Problem[] {
  const options = { budget: new WorkBudget(suggestionSteps), root }
  const remaining: ErrorObject[] = []
  const choices = new Map<ErrorObject, ErrorDescription>()
  for (const error of errors.slice(0, schemaLimits.errors)) {
    if (error.keyword !== 'anyOf' && error.keyword !== 'oneOf') {
      remaining.push(error)
      continue
    }
    const branches = takeBranches(remaining, error)
    const descriptions = branches.map((branch) => choices.get(branch) ?? describeError(branch, options))
    choices.set(error, describeChoice(error, descriptions, root))
    remaining.push(error)
  }
  const problems = new Map<string, Problem>()
  for (const error of remaining) {
    if (problems.size >= schemaLimits.problems) break
    if (isRepeat(error, remaining)) continue
    const problem = toProblem(choices.get(error) ?? describeError(error, options))
    problems.set(`${problem.pointer} ${problem.message}`, problem)
  }
  return [...problems.values()]
}

/** Removes the errors of the branches of a choice from the end, and returns them. */
function takeBranches(remaining: ErrorObject[], choice: ErrorObject): readonly ErrorObject[] {
  const viaRefs = hasRefs(choice.schema)
  const belongs = (error: ErrorObject) =>
    error.instancePath.startsWith(choice.instancePath) &&
    (error.schemaPath.startsWith(`${choice.schemaPath}/`) || (viaRefs && error.schemaPath.startsWith('#/$defs/')))
  let start = remaining.length
  while (start > 0 && belongs(remaining[start - 1] as ErrorObject)) start--
  return remaining.splice(start)
}

const withRefs = new WeakMap<object, boolean>()

/** Cached, because thousands of errors may refer to the same schema. */
function hasRefs(schema: unknown): boolean {
  if (typeof schema !== 'object' || schema === null) return false
  const result = withRefs.get(schema) ?? JSON.stringify(schema).includes('"$ref"')
  withRefs.set(schema, result)
  return result
}

function describeChoice(error: ErrorObject, branches: readonly ErrorDescription[], root: string): ErrorDescription {
  const path = readPath(error.instancePath)
  const field = formatIssuePath(path, root)
  if (error.params.passingSchemas != null) {
    return { path, message: `${field} matches more than one of the allowed schemas, but must match exactly one` }
  }
  const messages = [...new Set(branches.map(({ message }) => message))]
  const ownPointer = toPointer(path)
  const expected = branches.map((branch) => (toPointer(branch.path) === ownPointer ? branch.expected : undefined))
  if (branches.length > 0 && expected.every((each) => each !== undefined)) {
    const all = [...new Set(expected)].slice(0, 10).join(', or ')
    return { path, message: `${field} must be ${all}`, expected: all, ...kindOfFirst(branches) }
  }
  const hint = messages.length === 0 ? {} : { hint: messages.slice(0, 3).join('; or: ') }
  return { path, message: `${field} matches none of the allowed schemas`, ...hint }
}

/** Whether an error of `if` or `propertyNames` repeats the error that caused it. */
function isRepeat({ keyword, instancePath, params }: ErrorObject, all: readonly ErrorObject[]): boolean {
  if (keyword === 'if')
    return all.some((other) => other.keyword !== 'if' && other.instancePath.startsWith(instancePath))
  return (
    keyword === 'propertyNames' &&
    all.some((other) => other.propertyName === params.propertyName && other.keyword !== keyword)
  )
}

const kindOfFirst = ([first]: readonly ErrorDescription[]) => (first?.kind === undefined ? {} : { kind: first.kind })

function toProblem({ path, message, hint, kind }: ErrorDescription): Problem {
  const details = { ...(hint === undefined ? {} : { hint }), ...(kind === undefined ? {} : { kind }) }
  return { severity: 'error', pointer: toPointer(path), message, ...details }
}

/** The description of one error of the validator. */
interface ErrorDescription {
  readonly path: readonly PropertyKey[]
  readonly message: string
  readonly hint?: string
  readonly kind?: ProblemKind
  /** The expectation in a message of the form `must be ...`. */
  readonly expected?: string
}

type Params = Readonly<Record<string, unknown>>
type Details = Pick<ErrorDescription, 'message' | 'kind' | 'expected'>
type Describe = (field: string, params: Params, error: ErrorObject) => string | Details

const counted = (unit: string, word: 'least' | 'most'): Describe => {
  return (field, { limit }) => ({
    message: `${field} must have at ${word} ${String(limit)} ${limit === 1 ? unit : plural(unit)}`,
    ...(word === 'most' ? { kind: 'too-long' } : {}),
  })
}
const mustBe = (field: string, expected: string, found = ''): Details => ({
  message: `${field} must be ${expected}${found}`,
  expected,
})
const plural = (unit: string) => unit.replace(/y$/, 'ie').concat('s')
const compared: Describe = (field, { comparison, limit }) =>
  mustBe(field, `${bounds[String(comparison)] ?? String(comparison)} ${String(limit)}`)
const bounds: Readonly<Record<string, string>> = {
  '<=': 'at most',
  '>=': 'at least',
  '<': 'less than',
  '>': 'more than',
}

const descriptions: Readonly<Record<string, Describe>> = {
  type: (field, { type }, { data }) => {
    const [first = '', ...others] = typesOf(type).map((name) => typeWords[name] ?? name)
    const kind = kinds[typesOf(type)[0] ?? '']
    const details = mustBe(field, [first, ...others].join(' or '), `, not ${kindOf(data)}`)
    return kind === undefined ? details : { ...details, kind }
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
  unevaluatedItems: (field) => `${field} has too many entries`,
  minProperties: counted('property', 'least'),
  maxProperties: counted('property', 'most'),
  pattern: (field, { pattern }) => `${field} must match the pattern ${String(pattern)}`,
  uniqueItems: (field) => `${field} has the same entry twice`,
  contains: (field, { minContains, maxContains }) =>
    `${field} must have ${containsRange(minContains, maxContains)} that match its schema`,
  const: (field, _, { schema }) => mustBe(field, short(schema)),
  not: (field) => `${field} has a value that is not allowed`,
  if: (field, { failingKeyword }) => `${field} does not match the schema under ${String(failingKeyword)}`,
  'false schema': (field) => `${field} is not allowed`,
  propertyNames: (field, { propertyName }) => `${field} must not have a property '${String(propertyName)}'`,
}

/** Suggestions spend steps of the budget; `root` names the whole value in messages. */
export interface DescribeOptions {
  readonly budget: WorkBudget
  readonly root: string
}

/** The message and the hint for an error of the validator. */
export function describeError(error: ErrorObject, { budget, root }: DescribeOptions): ErrorDescription {
  const { keyword, params } = error
  const path = readPath(error.instancePath)
  const missing = String(params.missingProperty)
  if (keyword === 'required')
    return { path: [...path, missing], message: `${formatIssuePath([...path, missing])} is required`, kind: 'required' }
  if (keyword === 'dependentRequired') {
    const message = `${formatIssuePath([...path, missing])} is required if '${String(params.property)}' is present`
    return { path: [...path, missing], message }
  }
  const extra: unknown = params.additionalProperty ?? params.unevaluatedProperty
  if (typeof extra === 'string') return describeUnknown(extra, error, { path, budget, root })
  if (keyword === 'enum') return describeEnum(error, { path, budget, root })
  const field =
    error.propertyName === undefined ? formatIssuePath(path, root) : `the property name '${error.propertyName}'`
  const details = descriptions[keyword]?.(field, params, error) ?? `${field} does not match the schema`
  if (typeof details === 'string') return { path, message: details }
  // The name of a property is not the value at the path.
  const { expected, ...others } = details
  return { path, ...others, ...(expected === undefined || error.propertyName !== undefined ? {} : { expected }) }
}

interface AtPath extends DescribeOptions {
  readonly path: readonly PropertyKey[]
}

function describeUnknown(name: string, error: ErrorObject, { path, budget, root }: AtPath): ErrorDescription {
  const properties: unknown = error.parentSchema?.properties
  const known = isObject(properties) ? Object.keys(properties) : []
  const near = suggestWithinBudget(name, known, budget)
  const meant = near === undefined ? '' : `; did you mean '${near}'?`
  const where = path.length === 0 ? '' : ` in ${formatIssuePath(path, root)}`
  const hint = known.length === 0 ? {} : { hint: `allowed properties: ${known.slice(0, 20).join(', ')}` }
  return { path: [...path, name], message: `unknown property '${name.slice(0, 100)}'${where}${meant}`, ...hint }
}

function describeEnum({ schema, data }: ErrorObject, { path, budget, root }: AtPath): ErrorDescription {
  const allowed: readonly unknown[] = Array.isArray(schema) ? schema : []
  const more = allowed.length > 20 ? `, and ${allowed.length - 20} more` : ''
  const texts = allowed.filter((value) => typeof value === 'string')
  const near = typeof data === 'string' ? suggestWithinBudget(data.slice(0, 100), texts, budget) : undefined
  const details = mustBe(formatIssuePath(path, root), `one of: ${allowed.slice(0, 20).map(short).join(', ')}${more}`)
  return { path, ...details, ...(near === undefined ? {} : { hint: `Did you mean '${near}'?` }) }
}

const short = (value: unknown) => {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > 80 ? `${text.slice(0, 79)}…` : text
}

function containsRange(min: unknown, max: unknown): string {
  if (max === undefined || max === null) return `at least ${String(min)} ${min === 1 ? 'entry' : 'entries'}`
  return `between ${String(min)} and ${String(max)} entries`
}

const typeWords: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  integer: 'an integer',
  boolean: 'a boolean',
  array: 'an array',
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
  return typeWords[Array.isArray(value) ? 'array' : typeof value] ?? 'this type'
}

/** The parts of a JSON pointer, with indexes as numbers. */
function readPath(pointer: string): readonly PropertyKey[] {
  return fromPointer(pointer).map((part) => (/^\d{1,9}$/.test(part) ? Number(part) : part))
}
