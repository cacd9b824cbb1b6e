import { type Problem, type ProblemKind, toPointer } from '../base/problem.ts'

/** A problem of the data at a path of names in code, before it is located in an input or a file. */
export interface Finding {
  readonly path: readonly PropertyKey[]
  readonly message: string
  readonly hint?: string
  readonly kind?: ProblemKind
  readonly severity?: Problem['severity']
  /** Whether it is a warning unless the file is read in strict mode. */
  readonly tolerated?: boolean
}

/** A finding as a problem at a JSON pointer, below the pointer of the data. */
export const toProblem = (finding: Finding, base = ''): Problem => ({
  ...findingToProblem(finding),
  pointer: base + toPointer(finding.path),
})

/** A finding as a problem without a location. */
export function findingToProblem({ severity = 'error', message, hint, kind }: Finding): Problem {
  return { severity, message, ...(hint === undefined ? {} : { hint }), ...(kind === undefined ? {} : { kind }) }
}

/** Whether any of the problems is an error. */
export const hasErrors = (problems: readonly Problem[]): boolean =>
  problems.some(({ severity }) => severity === 'error')

/** The order of problems in a file: by line and column. */
export const byLocation = (a: Problem, b: Problem): number =>
  (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0)

/** Problems of a part of the input at pointers into the whole input. */
export const below = (base: string, problems: readonly Problem[]): readonly Problem[] =>
  problems.map((problem) => ({ ...problem, pointer: base + (problem.pointer ?? '') }))
