import type * as z from 'zod'
import type { TooldexError } from '../base/errors.ts'
import type { Problem } from '../base/problem.ts'
import { yieldTurns } from '../base/yield-turns.ts'
import { dropInvalid, independentOf } from '../diagnostics/diagnose.ts'
import { toProblem } from '../diagnostics/finding.ts'
import { toProblemError } from '../diagnostics/problem-error.ts'
import { describeShape } from '../diagnostics/shape-problems.ts'
import { toolDependents } from '../rules/tool-dependents.ts'
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
  const shape: Problem[] = []
  const turn = yieldTurns(context?.signal)
  for (const issue of issues) {
    const found = describeShape(operation.input, issue, { internalKeys: context?.elsewhere })
    shape.push(...found.map((finding) => toProblem(finding)))
    await turn()
  }
  const isIndependent = independentOf(
    shape.map(({ pointer = '' }) => pointer),
    toolDependents,
  )
  await turn()
  const others = await validateRemainder(operation, { input, issues }, context)
  const problems = [...shape, ...others.filter(({ pointer }) => isIndependent(pointer))]
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
  return rest === undefined ? [] : operation.validateRemainder(rest, context)
}
