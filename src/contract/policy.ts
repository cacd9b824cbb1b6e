import * as z from 'zod'

/** The bounds on the values of one argument. */
export const ArgConstraint = z.strictObject({
  /** A regular expression (RE2) that the complete string must match. */
  pattern: z.string().optional(),
  min: z.number().optional(),
  max: z.number().optional(),
})
export type ArgConstraint = z.infer<typeof ArgConstraint>

/** The rule of a policy for one tool. */
export const ToolRule = z.strictObject({
  description: z.string().optional(),
  args: z.record(z.string(), ArgConstraint).default({}),
  /** Whether each call needs approval. */
  requireApproval: z.boolean().optional(),
  /** The number of recorded inputs that must give the same output before a proposal can be accepted. */
  requireReplay: z.int().min(1).max(1000).optional(),
})
export type ToolRule = z.infer<typeof ToolRule>

/** The execution environment of commands: this host, or a new container of an image. */
export const ExecutorChoice = z.strictObject({
  type: z.enum(['local', 'docker']).default('local'),
  image: z.string().min(1).optional(),
  volumes: z.array(z.string()).default([]),
  workingDir: z.string().optional(),
  network: z.string().optional(),
})
export type ExecutorChoice = z.infer<typeof ExecutorChoice>

/** The tools that a caller may use, the bounds on their arguments, and the environment they run in. */
export const Policy = z.strictObject({
  executor: ExecutorChoice.prefault({}),
  default: z.enum(['disabled', 'enabled']).default('disabled'),
  tools: z.record(z.string(), ToolRule).default({}),
  /** The names of the keys it applies to; all callers where absent. */
  callers: z.array(z.string().min(1)).optional(),
})
export type Policy = z.infer<typeof Policy>

/** The rule for a tool; undefined where the policy hides it. */
export function ruleFor(policy: Policy | undefined, toolName: string): ToolRule | undefined {
  if (policy === undefined) return noRule
  if (Object.hasOwn(policy.tools, toolName)) return policy.tools[toolName]
  return policy.default === 'enabled' ? noRule : undefined
}

/** The policies that apply to a caller: those for all callers, and those that list its key. */
export const policiesFor = <Bound extends Policy>(
  policies: readonly Bound[],
  callerId: string | null,
): readonly Bound[] =>
  policies.filter(({ callers }) => callers === undefined || callers.some((name) => callerId === `key:${name}`))

/** The names of all tools that a caller may see; undefined where none is hidden. */
export function visibleNames(policies: readonly Policy[], callerId: string | null): ReadonlySet<string> | undefined {
  const closed = policiesFor(policies, callerId).filter((policy) => policy.default === 'disabled')
  const [first, ...others] = closed
  if (first === undefined) return undefined
  const names = Object.keys(first.tools).filter((name) => others.every(({ tools }) => Object.hasOwn(tools, name)))
  return new Set(names)
}

/** The rules of all policies that apply to a caller; undefined where one of them hides the tool. */
export function rulesFor(
  policies: readonly Policy[],
  toolName: string,
  callerId: string | null,
): readonly ToolRule[] | undefined {
  const rules = policiesFor(policies, callerId).map((policy) => ruleFor(policy, toolName))
  return rules.includes(undefined) ? undefined : (rules as readonly ToolRule[])
}

const noRule: ToolRule = { args: {} }
