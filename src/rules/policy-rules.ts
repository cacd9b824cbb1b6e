import { faultOfPattern } from '../base/pattern.ts'
import type { Policy, ToolRule } from '../contract/policy.ts'
import type { Finding } from '../diagnostics/finding.ts'

/** The rule for a tool; undefined where the policy hides it. */
export function ruleForTool(policy: Policy | undefined, toolName: string): ToolRule | undefined {
  if (policy === undefined) return noRule
  if (Object.hasOwn(policy.tools, toolName)) return policy.tools[toolName]
  return policy.default === 'enabled' ? noRule : undefined
}

/** A caller as policies, toolsets and limits name it. */
export interface CallerIdentity {
  /** `key:NAME`, or `sub:SUBJECT` with an access token. */
  readonly actor: string | null
  /** The groups of its access token. */
  readonly groups?: readonly string[] | undefined
}

/** Whether a name stands for a caller: the name of its key, its subject as `sub:SUBJECT`, or a group as `group:NAME`. */
export const namesCaller = (name: string, { actor, groups }: CallerIdentity): boolean =>
  actor === `key:${name}` ||
  (actor === name && name.startsWith('sub:')) ||
  (name.startsWith('group:') && groups?.includes(name.slice('group:'.length)) === true)

/** The policies that apply to a caller: those for all callers, and those that name it. */
export const policiesFor = <Bound extends Policy>(
  policies: readonly Bound[],
  caller: CallerIdentity,
): readonly Bound[] =>
  policies.filter(({ callers }) => callers === undefined || callers.some((name) => namesCaller(name, caller)))

/** The names of all tools that a caller may see; undefined where none is hidden. */
export function visibleToolNames(policies: readonly Policy[], caller: CallerIdentity): ReadonlySet<string> | undefined {
  const closed = policiesFor(policies, caller).filter((policy) => policy.default === 'disabled')
  const [first, ...others] = closed
  if (first === undefined) return undefined
  const names = Object.keys(first.tools).filter((name) => others.every(({ tools }) => Object.hasOwn(tools, name)))
  return new Set(names)
}

/** The rules of all policies that apply to a caller; undefined where one of them hides the tool. */
export function toolRulesFor(
  policies: readonly Policy[],
  toolName: string,
  caller: CallerIdentity,
): readonly ToolRule[] | undefined {
  const rules = policiesFor(policies, caller).map((policy) => ruleForTool(policy, toolName))
  return rules.includes(undefined) ? undefined : (rules as readonly ToolRule[])
}

const noRule: ToolRule = { args: {} }

/** The reason why a pattern does not compile. */
export type FaultOfPattern = (pattern: string) => string | undefined

/** All patterns of a policy. */
export const patternsOf = ({ tools }: Policy): readonly string[] =>
  Object.values(tools).flatMap(({ args }) => Object.values(args).flatMap(({ pattern }) => pattern ?? []))

/** Returns the contradictions in a policy whose fields are each well formed; a server compiles the patterns of others beforehand. */
export function checkPolicy(policy: Policy, faultOf: FaultOfPattern = faultOfPattern): readonly Finding[] {
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
      const fault = pattern === undefined ? undefined : faultOf(pattern)
      if (fault === undefined) continue
      const message = `${tool}.${arg}: the pattern is not a valid regular expression: ${fault}`
      const hint = 'use RE2 syntax, which has no look-around and no back-references'
      found.push({ path: [...path, 'pattern'], message, hint })
    }
  }
  return found
}
