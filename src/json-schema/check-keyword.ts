import { isObject } from '../base/json-values.ts'
import { compileSearchPattern } from '../base/pattern.ts'
import type { ProblemKind } from '../base/problem.ts'
import { didYouMean } from '../base/suggest.ts'
import { OutOfBudget, type WorkBudget } from '../base/work-budget.ts'
import { type KeywordKind, typeAliases, typeNames } from './keywords.ts'
import { schemaLimits } from './limits.ts'

/** An invalid value of a keyword. */
export interface KeywordFault {
  readonly path: readonly PropertyKey[]
  readonly message: string
  readonly hint?: string
  readonly kind?: ProblemKind
}

type Check = (value: unknown, word: string, budget: WorkBudget) => readonly KeywordFault[]

const fault = (message: string, hint?: string, path: readonly PropertyKey[] = []): readonly KeywordFault[] => [
  { path, message, ...(hint === undefined ? {} : { hint }) },
]
/** The fault of a value that has the wrong type. */
const wrongType = (kind: ProblemKind, message: string, hint?: string): readonly KeywordFault[] =>
  fault(message, hint).map((found) => ({ ...found, kind }))
const none: readonly KeywordFault[] = []
const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value)

const checks: Partial<Record<KeywordKind, Check>> = {
  count: (value, word) =>
    Number.isInteger(value) && (value as number) >= 0
      ? none
      : wrongType('not-number', `${word} must be an integer of at least 0`),
  number: (value, word) =>
    isNumber(value)
      ? none
      : wrongType('not-number', `${word} must be a number`, typeof value === 'boolean' ? bound(word) : undefined),
  positive: (value, word) =>
    isNumber(value) && value > 0 ? none : wrongType('not-number', `${word} must be a number greater than 0`),
  boolean: (value, word) => (typeof value === 'boolean' ? none : wrongType('not-boolean', `${word} must be a boolean`)),
  text: checkText,
  ref: checkText,
  list: (value, word) => (Array.isArray(value) ? none : wrongType('not-array', `${word} must be an array`)),
  names: checkNames,
  'names map': (value, word) =>
    isObject(value)
      ? Object.entries(value).flatMap(([key, names]) =>
          checkNames(names, `${word}.${key}`).map((found) => ({ ...found, path: [key, ...found.path] })),
        )
      : wrongType('not-object', `${word} must be an object`),
  type: checkType,
  enum: checkEnum,
  pattern: checkPattern,
}

/** The faults of the value of a keyword that contains no schemas. */
export function checkKeyword(
  kind: KeywordKind,
  value: unknown,
  word: string,
  budget: WorkBudget,
): readonly KeywordFault[] {
  return checks[kind]?.(value, word, budget) ?? none
}

const bound = (word: string) => `write the bound itself: "${word}": 10`

function checkText(value: unknown, word: string): readonly KeywordFault[] {
  return typeof value === 'string' ? none : wrongType('not-string', `${word} must be a string`)
}

function checkNames(value: unknown, word: string): readonly KeywordFault[] {
  if (!Array.isArray(value)) {
    const hint =
      word === 'required' && typeof value === 'boolean' ? 'list the names in the object around it' : undefined
    return wrongType('not-array', `${word} must be an array of property names`, hint)
  }
  const wrong = value.findIndex((name) => typeof name !== 'string')
  if (wrong >= 0) return fault(`${word} must contain only strings`, 'write the names of properties', [wrong])
  const seen = new Set<unknown>()
  const twice = value.findIndex((name) => seen.size === seen.add(name).size)
  return twice < 0 ? none : fault(`${word} has '${String(value[twice])}' twice`, 'remove one of them', [twice])
}

function checkType(value: unknown): readonly KeywordFault[] {
  if (!Array.isArray(value)) return checkTypeName(value, [])
  if (value.length === 0) return fault('type must name at least one type', allTypes)
  if (new Set(value).size < value.length) return fault('type contains a name twice', 'remove one of them')
  return value.flatMap((name, index) => checkTypeName(name, [index]))
}

const allTypes = `choose from: ${typeNames.join(', ')}`

function checkTypeName(name: unknown, path: readonly PropertyKey[]): readonly KeywordFault[] {
  if (typeof name !== 'string') return fault('type must be a string or an array of strings', allTypes, path)
  if ((typeNames as readonly string[]).includes(name)) return none
  const alias = Object.hasOwn(typeAliases, name.toLowerCase()) ? typeAliases[name.toLowerCase()] : undefined
  const meant = alias === undefined ? didYouMean(name, typeNames) : ` Did you mean '${alias}'?`
  return fault(`'${name}' is not a type of JSON Schema.${meant}`, allTypes, path)
}

function checkEnum(value: unknown): readonly KeywordFault[] {
  if (!Array.isArray(value)) return wrongType('not-array', 'enum must be an array of values')
  if (value.length === 0) return fault('enum must list at least one value', 'no value can match an empty enum')
  if (value.length <= schemaLimits.enumValues) return none
  return fault(
    `enum has ${value.length} values; at most ${schemaLimits.enumValues} are allowed`,
    'use a pattern, or a description',
  )
}

function checkPattern(value: unknown, word: string, budget: WorkBudget): readonly KeywordFault[] {
  if (typeof value !== 'string') return wrongType('not-string', `${word} must be a string`)
  if (value.length > schemaLimits.patternLength) {
    return fault(`${word} has ${value.length} characters; at most ${schemaLimits.patternLength} are allowed`)
  }
  try {
    compileSearchPattern(value, budget)
    return none
  } catch (error) {
    if (error instanceof OutOfBudget) throw error
    const reason = error instanceof Error ? error.message : 'it does not compile'
    return fault(`${word} is not a valid pattern: ${reason}`, 'write it without look-around and back-references (RE2)')
  }
}
