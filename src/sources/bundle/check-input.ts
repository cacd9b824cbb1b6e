import { type Problem, toPointer } from '../../base/problem.ts'
import type { Bundle } from '../../contract/bundle.ts'
import { toProblem } from '../../diagnostics/finding.ts'
import { checkPolicies } from './check-policies.ts'
import { checkTogether } from './check-references.ts'

/** Problems of a bundle that was sent as data instead of text, at JSON pointers. */
export function checkInputKeys(bundle: Bundle): readonly Problem[] {
  const part = { bundle, impliesCategories: false, show: toPointer }
  return [...checkPolicies(bundle), ...checkTogether([part])].map((finding) => toProblem(finding))
}
