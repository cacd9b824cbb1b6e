import * as z from 'zod'
import type { Problem } from '../../base/problem.ts'
import { RegisteredTool } from '../../contract/registry.ts'
import { withDefaultHint } from '../../diagnostics/default-hints.ts'

/** A problem of a tool, as callers read it. */
export const ToolProblem = z.object({
  severity: z.enum(['error', 'warning']),
  pointer: z.string().optional(),
  message: z.string(),
  hint: z.string().optional(),
  line: z.int().optional(),
  column: z.int().optional(),
})

/** The warnings of the check that a written tool passed. */
export const writeWarnings = {
  warnings: z.array(ToolProblem).optional().describe('Absent if there are none.'),
}

/** A tool that was just written. */
export const WrittenTool = RegisteredTool.extend(writeWarnings)
export type WrittenTool = z.infer<typeof WrittenTool>

/** Adds the warnings among the problems of a check to what was written. */
export function withWarnings<Written extends object>(
  written: Written,
  problems: readonly Problem[],
): Written & Pick<WrittenTool, 'warnings'> {
  const warnings = problems.filter(({ severity }) => severity === 'warning').map(withDefaultHint)
  return warnings.length === 0 ? written : { ...written, warnings }
}
