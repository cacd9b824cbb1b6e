import type { Bundle } from '../../contract/bundle.ts'
import type { Finding } from '../../diagnostics/finding.ts'
import { checkPolicy } from '../../rules/check-policy.ts'

/** Contradictions in the policies of a bundle. */
export function checkPolicies({ policies }: Bundle): readonly Finding[] {
  return policies.flatMap(({ policy }, index) =>
    checkPolicy(policy).map((found) => ({ ...found, path: ['policies', index, 'policy', ...found.path] })),
  )
}
