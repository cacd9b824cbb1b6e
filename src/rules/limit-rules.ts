import { type Limit, limitMeasures } from '../contract/limit.ts'
import type { Finding } from '../diagnostics/finding.ts'

/** Returns the contradictions in a limit whose fields are each well formed. */
export function checkLimitRule(limit: Limit): readonly Finding[] {
  if (limitMeasures.some((measure) => limit[measure] !== undefined)) return []
  return [{ path: [], message: 'the limit has no maximum', hint: `set at least one of ${limitMeasures.join(', ')}` }]
}
