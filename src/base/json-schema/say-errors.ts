import type { ErrorObject } from 'ajv'
import { type Problem, toPointer } from '../problem.ts'
import { suggestionSteps, WorkBudget } from '../work-budget.ts'
import { formatPath } from '../zod-issues.ts'
import { schemaLimits } from './limits.ts'
import { readPath, type Said, sayError } from './say-error.ts'

/** All errors of a validation as problems, where a choice that nothing fits is one problem and not one for each branch. */
export function sayErrors(errors: readonly ErrorObject[]): readonly Problem[] {
  const budget = new WorkBudget(suggestionSteps)
  const kept: ErrorObject[] = []
  const choices = new Map<ErrorObject, Said>()
  for (const error of errors.slice(0, schemaLimits.errors)) {
    if (error.keyword !== 'anyOf' && error.keyword !== 'oneOf') {
      kept.push(error)
      continue
    }
    const branches = takeBranches(kept, error)
    choices.set(
      error,
      sayChoice(
        error,
        branches.map((branch) => choices.get(branch) ?? sayError(branch, budget)),
      ),
    )
    kept.push(error)
  }
  const problems = new Map<string, Problem>()
  for (const error of kept) {
    if (problems.size >= schemaLimits.problems) break
    if (isEcho(error, kept)) continue
    const problem = toProblem(choices.get(error) ?? sayError(error, budget))
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

function sayChoice(error: ErrorObject, branches: readonly Said[]): Said {
  const path = readPath(error.instancePath)
  const field = formatPath(path)
  if (error.params.passingSchemas != null) {
    return { path, message: `${field} fits more than one of the shapes it may have, but must fit exactly one` }
  }
  const messages = [...new Set(branches.map(({ message }) => message))]
  const must = `${field} must be `
  if (messages.length > 0 && branches.every((branch) => branch.message.startsWith(must))) {
    const wishes = messages.map((message) => message.slice(must.length).replace(/, not [^,]*$/, ''))
    return { path, message: `${must}${wishes.slice(0, 10).join(', or ')}` }
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

function toProblem({ path, message, hint }: Said): Problem {
  return { severity: 'error', pointer: toPointer(path), message, ...(hint === undefined ? {} : { hint }) }
}
