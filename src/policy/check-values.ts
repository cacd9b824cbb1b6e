import { TooldexError } from '../base/errors.ts'
import { lazyModule } from '../base/lazy-module.ts'
import { type Problem, toPointer } from '../base/problem.ts'
import { toOneLine } from '../base/visible-text.ts'
import type { Scalar } from '../contract/cli-config.ts'
import type { BoundValues } from '../contract/executor.ts'
import type { ArgConstraint } from '../contract/policy.ts'

const loadJsonWork = lazyModule(() => import('../json-schema/offload/json-work.ts'))

/** Rejects a call whose values violate the constraints. Takes the final values, so defaults and global arguments are checked too. */
export async function checkValues(
  constraints: Readonly<Record<string, ArgConstraint>>,
  values: BoundValues,
): Promise<void> {
  const problems: Problem[] = []
  for (const [name, constraint] of Object.entries(constraints)) {
    const value = values.get(name)
    if (value === undefined) continue
    if (value === null || (typeof value === 'object' && 'uncheckable' in value)) {
      const message = `Argument '${name}': ${value === null ? 'null' : value.uncheckable} cannot be checked, but the policy bounds it; ${value === null ? 'pass a value or omit it' : 'pass a string, a number or a boolean'}`
      problems.push({ severity: 'error', pointer: toPointer([name]), message })
      continue
    }
    for (const item of typeof value === 'object' ? value : [value]) {
      for (const message of await findViolations(name, constraint, item)) {
        problems.push({ severity: 'error', pointer: toPointer([name]), message })
      }
    }
  }
  if (problems.length > 0) {
    const lines = problems.map((problem) => `  - ${problem.message}`).join('\n')
    throw new TooldexError('POLICY_REFUSED', `Policy validation failed:\n${lines}`, { problems })
  }
}

async function findViolations(
  name: string,
  { pattern, min, max }: ArgConstraint,
  value: Scalar,
): Promise<readonly string[]> {
  const found: string[] = []
  const text = typeof value === 'string' ? `'${toOneLine(value.slice(0, 100)).slice(0, 100)}'` : String(value)
  if (pattern !== undefined && !(await matches(pattern, String(value)))) {
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

/** The pattern engine is loaded with the first policy that has a pattern. */
async function matches(pattern: string, text: string): Promise<boolean> {
  const { matchesPattern } = await loadJsonWork()
  return matchesPattern(pattern, text)
}

/**
 * The number that a bound is compared with; NaN unless every program reads the text as the same number. Some read 9e-9 as 9, and
 * 010 as 8.
 */
function toNumber(value: Scalar): number {
  if (typeof value === 'number') return value
  return /^[ \t]*[+-]?(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)[ \t]*$/.test(String(value)) ? Number(value) : Number.NaN
}
