import { didYouMean } from '../../base/suggest.ts'
import { toOneLine } from '../../base/visible-text.ts'
import { suggestionSteps, WorkBudget } from '../../base/work-budget.ts'
import { toProblemError } from '../../diagnostics/problem-error.ts'

interface KnownArguments {
  /** The arguments in the listed schema. */
  readonly listed: readonly string[]
  /** Further accepted arguments. */
  readonly accepted: readonly string[]
}

/** Rejects arguments that would be ignored, and suggests the nearest known name of each. */
export function rejectUnknown(tool: string, names: readonly string[], { listed, accepted }: KnownArguments): void {
  const known = new Set([...listed, ...accepted])
  const unknown = names.filter((name) => !known.has(name))
  if (unknown.length === 0) return
  const budget = new WorkBudget(suggestionSteps)
  const problems = unknown.map((name) => {
    const nearest = didYouMean(name, known, budget)
    return { severity: 'error' as const, message: `unknown argument '${toOneLine(name.slice(0, 100))}'.${nearest}` }
  })
  const hint = `${tool} takes: ${listed.join(', ')}.`
  throw toProblemError({ code: 'INPUT_INVALID', what: 'The input', problems, maxInMessage: 10, hint })
}
