import { fromPointer, type Problem } from './problem.ts'

const forms: Readonly<Record<string, string>> = {
  'a list': 'write a list, such as ["a", "b"]',
  'a mapping': 'write a mapping, such as {"key": "value"}',
  'a text': 'write a text in quotes',
  'a number': 'write a number without quotes',
  'a whole number': 'write a number without quotes',
  'true or false': 'write true or false, without quotes',
}

/** A problem with what to do about it, where whoever found it did not say. */
export function withSuggestion(problem: Problem): Problem {
  if (problem.severity !== 'error' || problem.hint !== undefined) return problem
  return { ...problem, hint: suggestionFor(problem) }
}

function suggestionFor({ pointer = '', message }: Problem): string {
  const path = fromPointer(pointer)
  const [, form = ''] = /must be (a list|a mapping|a text|a whole number|a number|true or false)/.exec(message) ?? []
  if (forms[form] !== undefined) return forms[form]
  if (path.at(-1) === 'categoryId' || path.at(-1) === 'parentId')
    return 'give the id of a category, or null for none; GET /categories lists them'
  if (/ is required$/.test(message)) return 'add it'
  if (/must have at most|too long/.test(message)) return 'shorten it'
  if (path.includes('inputSchema') || path.includes('outputSchema'))
    return 'mend the keyword as JSON Schema has it, or take it out'
  return 'mend it, or leave it out'
}
