import { TooldexError } from '../../base/errors.ts'
import type { Problem } from '../../base/problem.ts'
import { toProblemError } from '../../diagnostics/problem-error.ts'
import type { LocatedBundle } from './locate-bundle.ts'

/** The valid part of a bundle with an invalid shape, for further checks. */
export interface BundleRest extends LocatedBundle {
  /** JSON pointers to invalid values, which are not checked further. */
  readonly wrong: readonly string[]
}

/** The error for files with an invalid shape, with their valid part. */
export class BundleRefused extends TooldexError {
  /** The file or folder that was read. */
  readonly source: string
  /** All problems, if there are more than an error lists. */
  readonly found: readonly Problem[]
  /** Absent if no part is valid. */
  readonly rest: BundleRest | undefined

  constructor(source: string, found: readonly Problem[], rest?: BundleRest) {
    const { message, problems } = toProblemError({ code: 'BUNDLE_INVALID', what: source, problems: found })
    super('BUNDLE_INVALID', message, { problems })
    this.source = source
    this.found = found
    this.rest = rest
  }
}
