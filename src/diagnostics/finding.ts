import type { Problem, ProblemKind } from '../base/problem.ts'

/** A problem of the data at a path of names in code, before it is located in a file. */
export interface Finding {
  readonly path: readonly PropertyKey[]
  readonly message: string
  readonly hint?: string
  readonly kind?: ProblemKind
  readonly severity?: Problem['severity']
  /** Whether it is a warning unless the file is read in strict mode. */
  readonly tolerated?: boolean
}
