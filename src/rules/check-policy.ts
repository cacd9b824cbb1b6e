import { compilePattern } from '../base/pattern.ts'
import type { Policy } from '../contract/policy.ts'
import type { Finding } from '../diagnostics/finding.ts'

/** Returns the contradictions in a policy whose fields are each well formed. */
export function checkPolicy(policy: Policy): readonly Finding[] {
  const found: Finding[] = []
  if (policy.executor.type === 'docker' && policy.executor.image === undefined) {
    found.push({
      path: ['executor'],
      message: 'executor.image is required for type docker',
      hint: 'set executor.image',
    })
  }
  for (const [tool, rule] of Object.entries(policy.tools)) {
    for (const [arg, { pattern, min, max }] of Object.entries(rule.args)) {
      const path = ['tools', tool, 'args', arg]
      if (min !== undefined && max !== undefined && min > max) {
        found.push({ path, message: `${tool}.${arg}: min ${min} is above max ${max}, so no value is allowed` })
      }
      if (pattern !== undefined) found.push(...checkPattern(pattern, [...path, 'pattern'], `${tool}.${arg}`))
    }
  }
  return found
}

function checkPattern(pattern: string, path: readonly PropertyKey[], name: string): readonly Finding[] {
  try {
    compilePattern(pattern)
    return []
  } catch (error) {
    const message = `${name}: the pattern is not a valid regular expression: ${(error as Error).message}`
    return [{ path, message, hint: 'use RE2 syntax, which has no look-around and no back-references' }]
  }
}
