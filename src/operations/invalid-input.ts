import type * as z from 'zod'
import type { TooldexError } from '../base/errors.ts'
import { type Problem, toPointer } from '../base/problem.ts'
import { yieldTurns } from '../base/yield-turns.ts'
import { dropInvalid } from '../diagnostics/drop-invalid.ts'
import type { Finding } from '../diagnostics/finding.ts'
import { toProblemError } from '../diagnostics/problem-error.ts'
import { describeShape } from '../diagnostics/shape-problems.ts'
import type { Need, Operation, OperationContext } from './operation.ts'

interface Refused {
  readonly input: unknown
  readonly issues: readonly z.core.$ZodIssue[]
}

/** The error for an input of the wrong shape, with all problems of shape and content. */
export async function invalidInput<Input extends z.ZodType, Output extends z.ZodType>(
  operation: Operation<Input, Output>,
  { input, issues }: Refused,
  context?: OperationContext<Need>,
): Promise<TooldexError> {
  const shape: Finding[] = []
  const turn = yieldTurns(context?.signal)
  for (const issue of issues) {
    shape.push(...describeShape(operation.input, issue, { internalKeys: context?.elsewhere }))
    await turn()
  }
  const problems = [
    ...shape.map(({ path, ...problem }) => ({ severity: 'error' as const, pointer: toPointer(path), ...problem })),
    ...(await validateRemainder(operation, { input, issues }, context)),
  ]
  const { subject } = operation
  const code = 'INPUT_INVALID'
  // Agents read only the message, so it contains the problems of the few arguments of a call.
  if (subject === undefined) return toProblemError({ code, what: 'The input', problems, maxInMessage: 10 })
  return toProblemError({ code, what: `The ${subject}`, problems, hint: 'Fix the listed problems and send it again.' })
}

async function validateRemainder<Input extends z.ZodType, Output extends z.ZodType>(
  operation: Operation<Input, Output>,
  { input, issues }: Refused,
  context: OperationContext<Need> | undefined,
): Promise<readonly Problem[]> {
  if (operation.validateRemainder === undefined || context === undefined) return []
  const rest = dropInvalid<z.output<Input>>(operation.input as z.ZodType<z.output<Input>>, input, issues)
  const relevant = issues.filter(({ code }) => code !== 'unrecognized_keys')
  const wrong = relevant.map(({ path }) => toPointer(path))
  return rest === undefined ? [] : operation.validateRemainder(rest, wrong, context)
}
