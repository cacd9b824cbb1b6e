import * as z from 'zod'
import type { Problem } from '../../base/problem.ts'
import { RegisteredTool } from '../../contract/registry.ts'
import { withDefaultHint } from '../../diagnostics/default-hints.ts'

/** A problem of a tool in a response. */
export const ToolProblem = z.object({
  severity: z.enum(['error', 'warning']),
  pointer: z.string().optional(),
  message: z.string(),
  hint: z.string().optional(),
  line: z.int().optional(),
  column: z.int().optional(),
})

/** The warnings of the check of a written tool. */
export const writeWarnings = {
  warnings: z.array(ToolProblem).optional().describe('Absent if there are none.'),
}

/** A tool after a write. */
export const WrittenTool = RegisteredTool.extend(writeWarnings)
export type WrittenTool = z.infer<typeof WrittenTool>

/** Adds the warnings of a check to the written resource. */
export function withWarnings<Written extends object>(
  written: Written,
  problems: readonly Problem[],
): Written & Pick<WrittenTool, 'warnings'> {
  const warnings = problems.filter(({ severity }) => severity === 'warning').map(withDefaultHint)
  return warnings.length === 0 ? written : { ...written, warnings }
}
