import { TooldexError } from '../../base/errors.ts'
import type { StoredPolicy } from '../../contract/bundle.ts'
import type { RunnableTool } from '../../contract/executor.ts'
import type { RegisteredTool } from '../../contract/registry.ts'
import { type CallerIdentity, policiesFor, ruleFor } from '../../rules/policy-rules.ts'
import { findUnboundArgument, withLatestProtection } from '../../rules/protection.ts'
import { fromRegistry } from '../../rules/runnable-tool.ts'
import type { NamedRule } from '../../rules/toolset-rules.ts'

/** A tool with the bounds of its rules, and the sources of the approval requirement. */
export interface BoundTool {
  readonly tool: RunnableTool
  readonly approvalBy: readonly string[]
}

/** The rules of a caller's policies for each tool; a hidden tool has the names of the policies that hide it. */
export function namedRules(policies: readonly StoredPolicy[], caller: CallerIdentity) {
  const binding = policiesFor(
    policies.map(({ name, policy }) => ({ ...policy, of: `the policy ${name}` })),
    caller,
  )
  return (tool: string): { readonly rules: readonly NamedRule[]; readonly hiddenBy: readonly string[] } => {
    const found = binding.map((policy) => ({ rule: ruleFor(policy, tool), of: policy.of }))
    return {
      rules: found.flatMap(({ rule, of }) => (rule === undefined ? [] : [{ ...rule, of }])),
      hiddenBy: found.flatMap(({ rule, of }) => (rule === undefined ? [of] : [])),
    }
  }
}

/** A tool of a config under rules; the bounds of the policy file are part of it already. */
export function bindEntry(runnable: RunnableTool, rules: readonly NamedRule[]): BoundTool {
  const constraints = [...runnable.constraints, ...rules.map(({ args }) => args)]
  const tool = rules.length === 0 ? runnable : { ...runnable, constraints }
  return { tool, approvalBy: approvalSources(tool, rules) }
}

/** A version of a registered tool under rules. */
export function bindRegistered(called: RegisteredTool, latest: RegisteredTool, rules: readonly NamedRule[]): BoundTool {
  refuseUnbound(called, latest, rules)
  const tool = fromRegistry(withLatestProtection(called, latest), rules)
  return { tool, approvalBy: approvalSources(tool, rules) }
}

/** Rejects a version without an argument that a policy bounds: the bound would have no effect. */
function refuseUnbound(called: RegisteredTool, latest: RegisteredTool, rules: readonly NamedRule[]): void {
  const unbound = findUnboundArgument(called, latest, rules)
  if (unbound === undefined) return
  const { name, version } = called
  throw new TooldexError(
    'POLICY_REFUSED',
    `A policy bounds the argument '${unbound}' of ${name}, which version ${version} does not have.`,
    {
      hint:
        called === latest
          ? 'Ask an admin to change the policy, or the tool.'
          : 'Call the latest version: leave the version out.',
    },
  )
}

const approvalSources = ({ annotations }: RunnableTool, rules: readonly NamedRule[]): readonly string[] => [
  ...(annotations.requiresApproval === true ? ['the tool itself'] : []),
  ...rules.flatMap(({ requireApproval, of }) => (requireApproval === true ? [of] : [])),
]
