import type { Diagnostic } from '@codemirror/lint'
import type { Text } from '@codemirror/state'
import type { Problem } from 'tooldex/client'
import { showInvisible } from '../../../src/base/invisible-characters.ts'

/** The characters of a problem: from its column, or its whole line. */
export function toRange(doc: Text, { line = 1, column }: Problem): { readonly from: number; readonly to: number } {
  const found = doc.line(Math.min(Math.max(line, 1), doc.lines))
  return { from: Math.min(found.from + Math.max((column ?? 1) - 1, 0), found.to), to: found.to }
}

/** The marks of the problems that have a line. */
export const toDiagnostics = (doc: Text, problems: readonly Problem[]): Diagnostic[] =>
  problems
    .filter(({ line }) => line !== undefined && line <= doc.lines)
    .map((problem) => ({
      ...toRange(doc, problem),
      severity: problem.severity === 'error' ? 'error' : 'warning',
      message: showInvisible(problem.message),
    }))
