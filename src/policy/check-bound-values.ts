import { TooldexError } from '../base/errors.ts'
import { toOneLine } from '../base/invisible-characters.ts'
import { lazyModule } from '../base/lazy-module.ts'
import { type Problem, toPointer } from '../base/problem.ts'
import type { Scalar } from '../contract/cli-config.ts'
import type { BoundValues } from '../contract/executor.ts'
import type { ArgConstraint } from '../contract/policy.ts'
import type { PatternAndText } from '../json-schema/offload/json-tasks.ts'

const loadJsonWork = lazyModule(() => import('../json-schema/offload/json-work.ts'))

/** More values than this are reported as a count. */
const maxProblems = 100

/** A value of a call with the bounds of its argument. */
interface BoundValue {
  readonly name: string
  readonly bounds: ArgConstraint
  readonly value: Scalar
}

/** Rejects a call whose values violate the constraints. Takes the final values, so defaults and global arguments are checked too. */
export async function checkBoundValues(
  constraints: Readonly<Record<string, ArgConstraint>>,
  values: BoundValues,
): Promise<void> {
  const problems: Problem[] = []
  const report = (name: string, message: string) =>
    problems.push({ severity: 'error', pointer: toPointer([name]), message })
  const bound: BoundValue[] = []
  for (const [name, bounds] of Object.entries(constraints)) {
    const value = values.get(name)
    if (value === undefined) continue
    if (value === null || (typeof value === 'object' && 'uncheckable' in value)) {
      const [what, next] =
        value === null
          ? ['null', 'pass a value or omit it']
          : [value.uncheckable, 'pass a string, a number or a boolean']
      report(name, `Argument '${name}': ${what} cannot be checked, but the policy bounds it; ${next}`)
    } else for (const item of typeof value === 'object' ? value : [value]) bound.push({ name, bounds, value: item })
  }
  const matching = await findMatching(bound)
  for (const each of bound) for (const message of findViolations(each, matching)) report(each.name, message)
  if (problems.length > 0) throw refusal(problems)
}

function refusal(all: readonly Problem[]): TooldexError {
  const problems = all.slice(0, maxProblems)
  const lines = problems.map((problem) => `  - ${problem.message}`)
  if (all.length > maxProblems) lines.push(`  - and ${all.length - maxProblems} more`)
  return new TooldexError('POLICY_REFUSED', `Policy validation failed:\n${lines.join('\n')}`, { problems })
}

/** The values that match the pattern of their argument; all of them are one piece of work, however many they are. */
async function findMatching(bound: readonly BoundValue[]): Promise<ReadonlySet<BoundValue>> {
  const pairs: PatternAndText[] = []
  const withPattern = bound.filter(({ bounds: { pattern }, value }) => {
    if (pattern !== undefined) pairs.push([pattern, String(value)])
    return pattern !== undefined
  })
  if (pairs.length === 0) return new Set()
  // The pattern engine is loaded with the first policy that has a pattern.
  const { matchPatterns } = await loadJsonWork()
  const matches = await matchPatterns(pairs)
  return new Set(withPattern.filter((_, index) => matches[index]))
}

function findViolations(each: BoundValue, matching: ReadonlySet<BoundValue>): readonly string[] {
  const { name, value, bounds } = each
  const { pattern, min, max } = bounds
  const found: string[] = []
  const text = typeof value === 'string' ? `'${toOneLine(value.slice(0, 100)).slice(0, 100)}'` : String(value)
  if (pattern !== undefined && !matching.has(each)) {
    found.push(`Argument '${name}': value ${text} does not match pattern '${pattern}'`)
  }
  const number = toNumber(value)
  // A bound cannot be checked on a value that is not a number, so the value is rejected.
  if ((min !== undefined || max !== undefined) && Number.isNaN(number)) {
    found.push(`Argument '${name}': value ${text} is not a number, but the policy bounds it`)
  }
  if (min !== undefined && number < min) found.push(`Argument '${name}': value ${text} is below minimum ${min}`)
  if (max !== undefined && number > max) found.push(`Argument '${name}': value ${text} exceeds maximum ${max}`)
  return found
}

/**
 * The number that a bound is compared with; NaN unless every program reads the text as the same number. Some read 9e-9 as 9, and
 * 010 as 8.
 */
function toNumber(value: Scalar): number {
  if (typeof value === 'number') return value
  return /^[ \t]*[+-]?(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)[ \t]*$/.test(String(value)) ? Number(value) : Number.NaN
}
