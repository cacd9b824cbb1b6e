import type * as z from 'zod'

/** A zod issue in words: the field, what is wrong with it, what to do. */
export function describeIssue(issue: z.core.$ZodIssue): { message: string; hint?: string } {
  const field = formatPath(issue.path)
  if (issue.code === 'invalid_type') return describeType(field, issue)
  if (issue.code === 'invalid_value')
    return { message: `${field} must be one of: ${issue.values.map(String).join(', ')}` }
  if (issue.code === 'too_small' && issue.origin === 'string') return { message: `${field} must not be empty` }
  if (issue.code === 'unrecognized_keys')
    return { message: `${field} has the unknown key '${issue.keys.join("', '")}'` }
  if (issue.code === 'invalid_union') return { message: `${field} has the wrong type`, ...quoteHint(issue.input) }
  return { message: `${field}: ${lowerFirst(issue.message)}` }
}

function describeType(field: string, issue: z.core.$ZodIssueInvalidType): { message: string; hint?: string } {
  if (issue.input === undefined && issue.message.includes('undefined')) return { message: `${field} is required` }
  const expected = typeNames[issue.expected] ?? issue.expected
  return {
    message: `${field} must be ${expected}${received(issue)}`,
    ...(issue.expected === 'string' ? quoteHint(issue.input) : {}),
  }
}

function received(issue: z.core.$ZodIssueInvalidType): string {
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
