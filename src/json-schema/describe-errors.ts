import type { ErrorObject } from 'ajv'
import { type Problem, toPointer } from '../base/problem.ts'
import { suggestionSteps, WorkBudget } from '../base/work-budget.ts'
import { formatPath } from '../diagnostics/zod-issues.ts'
import { describeError, type ErrorDescription, readPath } from './describe-error.ts'
import { schemaLimits } from './limits.ts'

/** All errors of a validation as problems, where a choice that nothing fits is one problem and not one for each branch. */
export function describeErrors(errors: readonly ErrorObject[], root: string): readonly Problem[] {
  const options = { budget: new WorkBudget(suggestionSteps), root }
  const kept: ErrorObject[] = []
  const choices = new Map<ErrorObject, ErrorDescription>()
  for (const error of errors.slice(0, schemaLimits.errors)) {
    if (error.keyword !== 'anyOf' && error.keyword !== 'oneOf') {
      kept.push(error)
      continue
    }
    const branches = takeBranches(kept, error)
    const said = branches.map((branch) => choices.get(branch) ?? describeError(branch, options))
    choices.set(error, sayChoice(error, said, root))
    kept.push(error)
  }
  const problems = new Map<string, Problem>()
  for (const error of kept) {
    if (problems.size >= schemaLimits.problems) break
    if (isEcho(error, kept)) continue
    const problem = toProblem(choices.get(error) ?? describeError(error, options))
    problems.set(`${problem.pointer} ${problem.message}`, problem)
  }
  return [...problems.values()]
}

/** Removes from the end what the branches of a choice had to say, and returns it. */
function takeBranches(kept: ErrorObject[], choice: ErrorObject): readonly ErrorObject[] {
  const viaRefs = hasRefs(choice.schema)
  const belongs = (error: ErrorObject) =>
    error.instancePath.startsWith(choice.instancePath) &&
    (error.schemaPath.startsWith(`${choice.schemaPath}/`) || (viaRefs && error.schemaPath.startsWith('#/$defs/')))
  let start = kept.length
  while (start > 0 && belongs(kept[start - 1] as ErrorObject)) start--
  return kept.splice(start)
}

const withRefs = new WeakMap<object, boolean>()

/** The same schema may be named by thousands of errors. */
function hasRefs(schema: unknown): boolean {
  if (typeof schema !== 'object' || schema === null) return false
  const known = withRefs.get(schema) ?? JSON.stringify(schema).includes('"$ref"')
  withRefs.set(schema, known)
  return known
}

function sayChoice(error: ErrorObject, branches: readonly ErrorDescription[], root: string): ErrorDescription {
  const path = readPath(error.instancePath)
  const field = formatPath(path, root)
  if (error.params.passingSchemas != null) {
    return { path, message: `${field} fits more than one of the shapes it may have, but must fit exactly one` }
  }
  const messages = [...new Set(branches.map(({ message }) => message))]
  const here = toPointer(path)
  const expected = branches.map((branch) => (toPointer(branch.path) === here ? branch.expected : undefined))
  if (branches.length > 0 && expected.every((each) => each !== undefined)) {
    const all = [...new Set(expected)].slice(0, 10).join(', or ')
    return { path, message: `${field} must be ${all}`, expected: all, ...kindOfFirst(branches) }
  }
  const hint = messages.length === 0 ? {} : { hint: messages.slice(0, 3).join('; or: ') }
  return { path, message: `${field} fits none of the shapes it may have`, ...hint }
}

/** That a condition or a name failed is said by what failed in it. */
function isEcho({ keyword, instancePath, params }: ErrorObject, all: readonly ErrorObject[]): boolean {
  if (keyword === 'if')
    return all.some((other) => other.keyword !== 'if' && other.instancePath.startsWith(instancePath))
  return (
    keyword === 'propertyNames' &&
    all.some((other) => other.propertyName === params.propertyName && other.keyword !== keyword)
  )
}

const kindOfFirst = ([first]: readonly ErrorDescription[]) => (first?.kind === undefined ? {} : { kind: first.kind })

function toProblem({ path, message, hint, kind }: ErrorDescription): Problem {
  const known = { ...(hint === undefined ? {} : { hint }), ...(kind === undefined ? {} : { kind }) }
  return { severity: 'error', pointer: toPointer(path), message, ...known }
}
