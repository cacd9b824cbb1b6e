import type { BundlePolicy, StoredPolicy } from '../contract/bundle.ts'
import { Policy } from '../contract/policy.ts'
import { describedParse, describeZodIssue } from '../diagnostics/zod-issues.ts'

/** Parses a stored policy; an invalid one is returned as refused, with the reason, and never thrown. */
export function parseStoredPolicy(name: string, stored: unknown): StoredPolicy {
  const parsed = Policy.safeParse(stored, describedParse)
  if (parsed.success) return { name, policy: parsed.data }
  const reason = parsed.error.issues.map((issue) => describeZodIssue(issue).message).join('; ')
  const callers = Policy.shape.callers.safeParse((stored as { readonly callers?: unknown } | null)?.callers)
  const policy = Policy.parse(callers.data === undefined ? {} : { callers: callers.data })
  return { name, policy, refused: { policy: stored as Policy, reason } }
}

/** The policy as stored, for responses. */
export const shownPolicy = ({ name, policy, refused }: StoredPolicy): BundlePolicy => ({
  name,
  policy: refused?.policy ?? policy,
})
