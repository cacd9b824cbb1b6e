import type * as z from 'zod'
import { suggest } from './suggest.ts'

interface Words {
  readonly message: string
  readonly hint?: string
}

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
  if (issue.input === undefined && issue.message.includes('undefined')) return { message: `${field} is required` }
  const expected = typeNames[issue.expected] ?? issue.expected
  return {
    message: `${field} must be ${expected}${received(issue)}`,
    ...(issue.expected === 'string' ? quoteHint(issue.input) : {}),
  }
}

type SizeIssue = z.core.$ZodIssueTooSmall | z.core.$ZodIssueTooBig

function describeSize(field: string, issue: SizeIssue): { message: string } {
  if (issue.origin === 'string' && issue.code === 'too_small' && issue.minimum === 1)
    return { message: `${field} must not be empty` }
  // A schema that has words of its own for it is left to say them.
  if (!/^Too (?:small|big)/.test(issue.message)) return { message: `${field}: ${lowerFirst(issue.message)}` }
  const units: Record<string, [string, string]> = { string: ['have', ' characters'], array: ['have', ' entries'] }
  const [verb, unit] = units[issue.origin] ?? ['be', '']
  const given = typeof issue.input === 'number' ? `, not ${issue.input}` : ''
  return { message: `${field} must ${verb} ${boundOf(issue)}${unit}${given}` }
}

function boundOf(issue: SizeIssue): string {
  const [bound, words] =
    issue.code === 'too_small' ? [issue.minimum, ['at least', 'more than']] : [issue.maximum, ['at most', 'less than']]
  return `${words[issue.inclusive === false ? 1 : 0]} ${bound}`
}

function describeUnion(field: string, issue: z.core.$ZodIssueInvalidUnion): Words {
  const choices = [...new Set(issue.errors.flat().flatMap(choicesOf))]
  if (choices.length === 0) return { message: `${field} has the wrong type`, ...quoteHint(issue.input) }
  const given = typeof issue.input === 'number' || typeof issue.input === 'string' ? `, not ${issue.input}` : ''
  const hint = choices.includes('a text') ? quoteHint(issue.input) : wholeHint(choices, issue.input)
  return { message: `${field} must be ${choices.join(', or ')}${given}`, ...hint }
}

/** What one way to satisfy a union asks of the value itself. */
function choicesOf(issue: z.core.$ZodIssue): readonly string[] {
  if (issue.path.length > 0) return []
  if (issue.code === 'invalid_union') return issue.errors.flat().flatMap(choicesOf)
  if (issue.code === 'too_small' || issue.code === 'too_big') return [boundOf(issue)]
  return issue.code === 'invalid_type' ? [typeNames[issue.expected] ?? issue.expected] : []
}

function wholeHint(choices: readonly string[], input: unknown): { hint?: string } {
  const whole = choices.includes('a whole number') && typeof input === 'number' && Number.isFinite(input)
  return whole ? { hint: `write ${Math.floor(input)} or ${Math.ceil(input)}` } : {}
}

function received(issue: z.core.$ZodIssueInvalidType): string {
  if (typeof issue.input === 'number' && ['int', 'number'].includes(issue.expected)) return `, not ${issue.input}`
  const found = /received (\w+)/.exec(issue.message)?.[1]
  return found === undefined ? '' : `, not ${typeNames[found] ?? found}`
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

/** `tools[2].args[0].type` for a path of keys and indexes. */
export function formatPath(path: readonly PropertyKey[]): string {
  const text = path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('')
  return text === '' ? 'the input' : text.replace(/^\./, '')
}

const lowerFirst = (text: string) => text.charAt(0).toLowerCase() + text.slice(1)
