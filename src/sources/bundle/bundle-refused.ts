import { TooldexError } from '../../base/errors.ts'
import type { Problem } from '../../base/problem.ts'
import { toProblemError } from '../../diagnostics/problem-error.ts'
import type { LocatedBundle } from './locate-bundle.ts'

/** What is left of a bundle without what is wrong with its shape: it can still be judged. */
export interface BundleRest extends LocatedBundle {
  /** JSON pointers into it at which nothing can be said, because something is wrong there. */
  readonly wrong: readonly string[]
}

/** The refusal of files for their shape, with what is left of them. */
export class BundleRefused extends TooldexError {
  /** What was read: a file or a folder. */
  readonly source: string
  /** All that was found, where there is more of it than an error lists. */
  readonly found: readonly Problem[]
  /** Absent where nothing is left. */
  readonly rest: BundleRest | undefined

  constructor(source: string, found: readonly Problem[], rest?: BundleRest) {
    const { message, problems } = toProblemError({ code: 'BUNDLE_INVALID', what: source, problems: found })
    super('BUNDLE_INVALID', message, { problems })
    this.source = source
    this.found = found
    this.rest = rest
  }
}
