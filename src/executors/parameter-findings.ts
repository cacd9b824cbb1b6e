import { TooldexError } from '../base/errors.ts'
import { didYouMean } from '../base/suggest.ts'
import { suggestionSteps, WorkBudget } from '../base/work-budget.ts'
import type { Finding } from '../diagnostics/finding.ts'
import { withoutPeriod } from '../diagnostics/sentences.ts'
import type { SchemaParameters } from '../json-schema/read-parameters.ts'

// One budget per tool, because a config may use thousands of unknown names.
const suggestions = new WeakMap<SchemaParameters, WorkBudget>()

/** A finding for a name that is not a parameter of the tool. */
export function findUnknownParameter(
  name: string,
  parameters: SchemaParameters,
  path: readonly PropertyKey[],
): readonly Finding[] {
  const { names, isOpen } = parameters
  if (isOpen || names.has(name)) return []
  const budget = suggestions.get(parameters) ?? new WorkBudget(suggestionSteps)
  suggestions.set(parameters, budget)
  const message = `the input schema has no parameter '${name}'.${didYouMean(name, names, budget)}`
  const hint = names.size === 0 ? 'add it to the input schema' : `it has: ${[...names].slice(0, 20).join(', ')}`
  return [{ path, message, hint }]
}

/** The parameters that a config does not use; none if the schema accepts any name. */
export const unusedParameters = ({ names, isOpen }: SchemaParameters, used: ReadonlySet<unknown>): readonly string[] =>
  isOpen ? [] : [...names].filter((name) => !used.has(name))

/** A finding for a default that the executor rejects: every call that omits the parameter would fail. */
export function refusedDefault(name: string, path: readonly PropertyKey[], build: () => unknown): readonly Finding[] {
  try {
    build()
    return []
  } catch (error) {
    if (!(error instanceof TooldexError)) throw error
    const reason = error.problems[0]?.message ?? error.message
    const message = `the default of '${name}' in the input schema cannot be used: ${withoutPeriod(reason)}`
    return [{ path, message, hint: 'every call without the parameter would fail; change or remove the default' }]
  }
}
