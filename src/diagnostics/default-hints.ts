import { fromPointer, type Problem, type ProblemKind, toWireProblem } from '../base/problem.ts'

const hintsByKind: Readonly<Partial<Record<ProblemKind, string>>> = {
  'not-array': 'write an array, such as ["a", "b"]',
  'not-object': 'write an object, such as {"key": "value"}',
  'not-string': 'write a string in quotes',
  'not-number': 'write a number without quotes',
  'not-boolean': 'write true or false, without quotes',
  required: 'add it',
  'too-long': 'shorten it',
}

/** A problem with its hint, or a standard one for an error that has none. */
export function withDefaultHint(problem: Problem): Problem {
  if (problem.severity !== 'error' || problem.hint !== undefined) return toWireProblem(problem)
  return { ...toWireProblem(problem), hint: suggestionFor(problem) }
}

function suggestionFor({ pointer = '', kind }: Problem): string {
  const path = fromPointer(pointer)
  if (path.at(-1) === 'categoryId' || path.at(-1) === 'parentId')
    return 'use the id of a category, or null for none; GET /categories lists them'
  const hint = kind === undefined ? undefined : hintsByKind[kind]
  if (hint !== undefined) return hint
  if (path.includes('inputSchema') || path.includes('outputSchema'))
    return 'correct the keyword as defined by JSON Schema, or remove it'
  return 'correct it, or remove it'
}
