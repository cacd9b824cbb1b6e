import type { ErrorObject } from 'ajv'
import { type Problem, toPointer } from '../base/problem.ts'
import { suggestionSteps, WorkBudget } from '../base/work-budget.ts'
import { formatPath } from '../diagnostics/zod-issues.ts'
import { describeError, type ErrorDescription, readPath } from './describe-error.ts'
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
  const field = formatPath(path, root)
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
