import type * as z from 'zod'
import type { ProblemKind } from '../base/problem.ts'
import { suggest } from '../base/suggest.ts'

interface Words {
  readonly message: string
  readonly hint?: string
  readonly kind?: ProblemKind
}

/**
 * How values are parsed whose issues are described: issues carry the input, and those that are described here have no
 * message unless the schema itself has one.
 */
export const describedParse = {
  reportInput: true,
  error: ({ code }: z.core.$ZodRawIssue) => (code === 'too_small' || code === 'too_big' ? '' : undefined),
} as const

/** A zod issue in words: the field, what is wrong with it, what to do. */
export function describeIssue(issue: z.core.$ZodIssue): Words {
  const field = formatPath(issue.path)
  if (issue.code === 'invalid_type') return describeType(field, issue)
  if (issue.code === 'invalid_value') return describeChoice(field, issue)
  if (issue.code === 'too_small' || issue.code === 'too_big') return describeSize(field, issue)
  if (issue.code === 'unrecognized_keys')
    return { message: `${field} has the unknown key '${issue.keys.join("', '")}'` }
  if (issue.code === 'invalid_union') return describeUnion(field, issue)
  return { message: `${field}: ${lowerFirst(issue.message)}` }
}

function describeChoice(field: string, { values, input }: z.core.$ZodIssueInvalidValue): Words {
  const words = values.map(String)
  const meant = typeof input === 'string' ? suggest(input.slice(0, 100), words) : undefined
  return {
    message: `${field} must be one of: ${words.join(', ')}`,
    ...(meant === undefined ? {} : { hint: `did you mean '${meant}'?` }),
  }
}

function describeType(field: string, issue: z.core.$ZodIssueInvalidType): Words {
  if (issue.input === undefined) return { message: `${field} is required`, kind: 'required' }
  const expected = typeNames[issue.expected] ?? issue.expected
  return {
    message: `${field} must be ${expected}${received(issue)}`,
    ...kindOf(issue.expected),
    ...(issue.expected === 'string' ? quoteHint(issue.input) : {}),
  }
}

type SizeIssue = z.core.$ZodIssueTooSmall | z.core.$ZodIssueTooBig

function describeSize(field: string, issue: SizeIssue): Words {
  if (issue.origin === 'string' && issue.code === 'too_small' && issue.minimum === 1)
    return { message: `${field} must not be empty` }
  const isCounted = issue.origin === 'string' || issue.origin === 'array'
  const kind = issue.code === 'too_big' && isCounted ? { kind: 'too-long' as const } : {}
  if (issue.message !== '') return { message: `${field}: ${lowerFirst(issue.message)}`, ...kind }
  const units: Record<string, [string, string]> = { string: ['have', ' characters'], array: ['have', ' entries'] }
  const [verb, unit] = units[issue.origin] ?? ['be', '']
  const given = typeof issue.input === 'number' ? `, not ${issue.input}` : ''
  return { message: `${field} must ${verb} ${boundOf(issue)}${unit}${given}`, ...kind }
}

function boundOf(issue: SizeIssue): string {
  const [bound, words] =
    issue.code === 'too_small' ? [issue.minimum, ['at least', 'more than']] : [issue.maximum, ['at most', 'less than']]
  return `${words[issue.inclusive === false ? 1 : 0]} ${bound}`
}

function describeUnion(field: string, issue: z.core.$ZodIssueInvalidUnion): Words {
  const expected = issue.errors.flat().flatMap(choicesOf)
  const choices = [...new Set(expected.map(({ words }) => words))]
  if (choices.length === 0) return { message: `${field} has the wrong type`, ...quoteHint(issue.input) }
  const given = typeof issue.input === 'number' || typeof issue.input === 'string' ? `, not ${issue.input}` : ''
  const takes = (type: string) => expected.some((choice) => choice.type === type)
  const hint = takes('string') ? quoteHint(issue.input) : takes('int') ? wholeHint(issue.input) : {}
  return { message: `${field} must be ${choices.join(', or ')}${given}`, ...kindOf(expected[0]?.type), ...hint }
}

interface Choice {
  readonly words: string
  readonly type?: string
}

/** What one way to satisfy a union asks of the value itself. */
function choicesOf(issue: z.core.$ZodIssue): readonly Choice[] {
  if (issue.path.length > 0) return []
  if (issue.code === 'invalid_union') return issue.errors.flat().flatMap(choicesOf)
  if (issue.code === 'too_small' || issue.code === 'too_big') return [{ words: boundOf(issue) }]
  if (issue.code !== 'invalid_type') return []
  return [{ words: typeNames[issue.expected] ?? issue.expected, type: issue.expected }]
}

function wholeHint(input: unknown): { hint?: string } {
  const isFraction = typeof input === 'number' && Number.isFinite(input)
  return isFraction ? { hint: `write ${Math.floor(input)} or ${Math.ceil(input)}` } : {}
}

function received(issue: z.core.$ZodIssueInvalidType): string {
  if (typeof issue.input === 'number' && ['int', 'number'].includes(issue.expected)) return `, not ${issue.input}`
  const found = typeOf(issue.input)
  return `, not ${typeNames[found] ?? found}`
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

const typeNames: Record<string, string> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a mapping',
  record: 'a mapping',
  null: 'empty',
}

/** Numbers and booleans where a text belongs were usually meant as texts. */
function quoteHint(input: unknown): { hint?: string } {
  const scalar = typeof input === 'number' || typeof input === 'boolean'
  return scalar ? { hint: `put it in quotes: "${String(input)}"` } : {}
}

/** The name of a whole value in messages. */
export const theInput = 'the input'

/** `tools[2].args[0].type` for a path of keys and indexes; `root` names the whole value. */
export function formatPath(path: readonly PropertyKey[], root = theInput): string {
  const text = path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('')
  return text === '' ? root : text.replace(/^\./, '')
}

const lowerFirst = (text: string) => text.charAt(0).toLowerCase() + text.slice(1)
