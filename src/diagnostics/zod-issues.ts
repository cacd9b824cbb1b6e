import type * as z from 'zod'
import type { ProblemKind } from '../base/problem.ts'
import { suggest } from '../base/suggest.ts'

interface Description {
  readonly message: string
  readonly hint?: string
  readonly kind?: ProblemKind
}

/**
 * Parse options for `describeZodIssue`: issues carry the input, and those of size have no message unless the schema itself
 * sets one.
 */
export const describedParse = {
  reportInput: true,
  error: ({ code }: z.core.$ZodRawIssue) => (code === 'too_small' || code === 'too_big' ? '' : undefined),
} as const

/** The message and the hint for a zod issue, with the type names of the input format. */
export function describeZodIssue(issue: z.core.$ZodIssue, names: TypeNames = jsonTypes): Description {
  const field = formatIssuePath(issue.path)
  if (issue.code === 'invalid_type') return describeType(field, issue, names)
  if (issue.code === 'invalid_value') return describeChoice(field, issue)
  if (issue.code === 'too_small' || issue.code === 'too_big') return describeSize(field, issue)
  if (issue.code === 'unrecognized_keys')
    return { message: `${field} has the unknown key '${issue.keys.join("', '")}'` }
  if (issue.code === 'invalid_union') return describeUnion(field, issue, names)
  return { message: `${field}: ${lowerFirst(issue.message)}` }
}

function describeChoice(field: string, { values, input }: z.core.$ZodIssueInvalidValue): Description {
  const choices = values.map(String)
  const meant = typeof input === 'string' ? suggest(input.slice(0, 100), choices) : undefined
  return {
    message: `${field} must be one of: ${choices.join(', ')}`,
    ...(meant === undefined ? {} : { hint: `did you mean '${meant}'?` }),
  }
}

function describeType(field: string, issue: z.core.$ZodIssueInvalidType, names: TypeNames): Description {
  if (issue.input === undefined) return { message: `${field} is required`, kind: 'required' }
  const expected = names[issue.expected] ?? issue.expected
  return {
    message: `${field} must be ${expected}${received(issue, names)}`,
    ...kindOf(issue.expected),
    ...(issue.expected === 'string' ? quoteHint(issue.input) : {}),
  }
}

type SizeIssue = z.core.$ZodIssueTooSmall | z.core.$ZodIssueTooBig

function describeSize(field: string, issue: SizeIssue): Description {
  if (issue.origin === 'string' && issue.code === 'too_small' && issue.minimum === 1)
    return { message: `${field} must not be empty` }
  const isCounted = issue.origin === 'string' || issue.origin === 'array'
  const kind = issue.code === 'too_big' && isCounted ? { kind: 'too-long' as const } : {}
  if (issue.message !== '') return { message: `${field}: ${lowerFirst(issue.message)}`, ...kind }
  const units: Record<string, [string, string]> = { string: ['have', ' characters'], array: ['have', ' entries'] }
  const [verb, unit] = units[issue.origin] ?? ['be', '']
  const value = typeof issue.input === 'number' ? `, not ${issue.input}` : ''
  return { message: `${field} must ${verb} ${boundOf(issue)}${unit}${value}`, ...kind }
}

function boundOf(issue: SizeIssue): string {
  const [bound, relations] =
    issue.code === 'too_small' ? [issue.minimum, ['at least', 'more than']] : [issue.maximum, ['at most', 'less than']]
  return `${relations[issue.inclusive === false ? 1 : 0]} ${bound}`
}

function describeUnion(field: string, issue: z.core.$ZodIssueInvalidUnion, names: TypeNames): Description {
  const expected = issue.errors.flat().flatMap((each) => choicesOf(each, names))
  const choices = [...new Set(expected.map(({ text }) => text))]
  if (choices.length === 0) return { message: `${field} has the wrong type`, ...quoteHint(issue.input) }
  const value = typeof issue.input === 'number' || typeof issue.input === 'string' ? `, not ${issue.input}` : ''
  const takes = (type: string) => expected.some((choice) => choice.type === type)
  const hint = takes('string') ? quoteHint(issue.input) : takes('int') ? integerHint(issue.input) : {}
  return { message: `${field} must be ${choices.join(', or ')}${value}`, ...kindOf(expected[0]?.type), ...hint }
}

interface Choice {
  readonly text: string
  readonly type?: string
}

/** The types and bounds that one alternative of a union requires of the value itself. */
function choicesOf(issue: z.core.$ZodIssue, names: TypeNames): readonly Choice[] {
  if (issue.path.length > 0) return []
  if (issue.code === 'invalid_union') return issue.errors.flat().flatMap((each) => choicesOf(each, names))
  if (issue.code === 'too_small' || issue.code === 'too_big') return [{ text: boundOf(issue) }]
  if (issue.code !== 'invalid_type') return []
  return [{ text: names[issue.expected] ?? issue.expected, type: issue.expected }]
}

function integerHint(input: unknown): { hint?: string } {
  const isFraction = typeof input === 'number' && Number.isFinite(input)
  return isFraction ? { hint: `write ${Math.floor(input)} or ${Math.ceil(input)}` } : {}
}

function received(issue: z.core.$ZodIssueInvalidType, names: TypeNames): string {
  if (typeof issue.input === 'number' && ['int', 'number'].includes(issue.expected)) return `, not ${issue.input}`
  const found = typeOf(issue.input)
  return `, not ${names[found] ?? found}`
}

function typeOf(value: unknown): string {
  if (value === null || typeof value !== 'object') return value === null ? 'null' : typeof value
  if (Array.isArray(value)) return 'array'
  const name = value.constructor?.name ?? 'Object'
  return name === 'Object' ? 'object' : name
}

const kinds: Readonly<Record<string, ProblemKind>> = {
  string: 'not-string',
  number: 'not-number',
  int: 'not-number',
  boolean: 'not-boolean',
  array: 'not-array',
  object: 'not-object',
  record: 'not-object',
}

function kindOf(type: string | undefined): { kind?: ProblemKind } {
  const kind = kinds[type ?? '']
  return kind === undefined ? {} : { kind }
}

type TypeNames = Readonly<Record<string, string>>

const jsonTypes: TypeNames = {
  string: 'a string',
  number: 'a number',
  int: 'an integer',
  boolean: 'a boolean',
  array: 'an array',
  object: 'an object',
  record: 'an object',
  null: 'null',
}

/** The names of types in messages about YAML files. */
export const yamlTypes: TypeNames = { ...jsonTypes, array: 'a sequence', object: 'a mapping', record: 'a mapping' }

/** Numbers and booleans in place of a string are usually unquoted strings. */
function quoteHint(input: unknown): { hint?: string } {
  const scalar = typeof input === 'number' || typeof input === 'boolean'
  return scalar ? { hint: `put it in quotes: "${String(input)}"` } : {}
}

/** The name of a whole value in messages. */
export const theInput = 'the input'

/** `tools[2].args[0].type` for a path of keys and indexes; `root` names the whole value. */
export function formatIssuePath(path: readonly PropertyKey[], root = theInput): string {
  const text = path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('')
  return text === '' ? root : text.replace(/^\./, '')
}

const lowerFirst = (text: string) => text.charAt(0).toLowerCase() + text.slice(1)
