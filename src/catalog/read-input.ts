import type * as z from 'zod'
import { TooldexError } from '../base/errors.ts'
import { deepFreeze } from '../base/json-values.ts'
import { type Problem, toPointer } from '../base/problem.ts'
import { describedParse, describeIssue } from '../diagnostics/zod-issues.ts'

/** Validates an input and returns a frozen JSON copy; `what` is the start of the error message. */
export function readInput<Schema extends z.ZodType>(schema: Schema, input: unknown, what: string): z.output<Schema> {
  const parsed = schema.safeParse(input)
  // The options that describe a problem cost a tenth of the parsing of a valid input.
  if (!parsed.success) throw refuse(what, (schema.safeParse(input, describedParse).error?.issues ?? []).map(toProblem))
  try {
    return deepFreeze(JSON.parse(JSON.stringify(parsed.data)) as z.output<Schema>)
  } catch (cause) {
    throw new TooldexError('INPUT_INVALID', `${what}: it is not plain JSON`, { cause })
  }
}

function toProblem(issue: z.core.$ZodIssue): Problem {
  const message = issue.code === 'custom' ? issue.message : describeIssue(issue).message
  return { severity: 'error', message, pointer: toPointer(issue.path) }
}

function refuse(what: string, problems: readonly Problem[]): TooldexError {
  return new TooldexError('INPUT_INVALID', `${what}: ${problems.map(({ message }) => message).join('; ')}`, {
    problems,
  })
}
