import { lazyModule } from '../../base/lazy-module.ts'
import type { Policy } from '../../contract/policy.ts'
import { type FaultOfPattern, patternsOf } from '../../rules/policy-rules.ts'

const loadJsonWork = lazyModule(() => import('../../json-schema/offload/json-work.ts'))

/** The faults in the patterns of policies, found before the policies are checked: a thousand patterns take seconds. */
export async function faultsOfPatterns(
  policies: readonly (Policy | undefined)[],
  signal?: AbortSignal,
): Promise<FaultOfPattern> {
  const patterns = [...new Set(policies.flatMap((policy) => (policy === undefined ? [] : patternsOf(policy))))]
  if (patterns.length === 0) return () => undefined
  const { findPatternFaults } = await loadJsonWork()
  const faults = await findPatternFaults(patterns, signal)
  return (pattern) => faults.get(pattern)
}
