import type { Problem, ProblemKind } from '../base/problem.ts'

/** Something about the data that a schema cannot say, at a path of names in code. */
export interface Finding {
  readonly path: readonly PropertyKey[]
  readonly message: string
  readonly hint?: string
  readonly kind?: ProblemKind
  readonly severity?: Problem['severity']
  /** A warning, and an error where the file is read strictly. */
  readonly tolerated?: boolean
}
