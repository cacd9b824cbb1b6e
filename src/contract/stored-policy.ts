import { describedParse, describeIssue } from '../diagnostics/zod-issues.ts'
import type { BundlePolicy } from './bundle.ts'
import { Policy } from './policy.ts'

/** A stored policy; one that is invalid by the current rules denies everything to the callers it applies to. */
export interface StoredPolicy extends BundlePolicy {
  /** The stored policy and its problems, where it is invalid. */
  readonly refused?: { readonly policy: Policy; readonly reason: string }
}

/** Parses a stored policy. */
export function readPolicy(name: string, stored: unknown): StoredPolicy {
  const parsed = Policy.safeParse(stored, describedParse)
  if (parsed.success) return { name, policy: parsed.data }
  const reason = parsed.error.issues.map((issue) => describeIssue(issue).message).join('; ')
  const callers = Policy.shape.callers.safeParse((stored as { readonly callers?: unknown } | null)?.callers)
  const policy = Policy.parse(callers.data === undefined ? {} : { callers: callers.data })
  return { name, policy, refused: { policy: stored as Policy, reason } }
}

/** The policy as stored, for responses. */
export const shownPolicy = ({ name, policy, refused }: StoredPolicy): BundlePolicy => ({
  name,
  policy: refused?.policy ?? policy,
})
