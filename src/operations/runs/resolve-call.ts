import * as z from 'zod'
import { TooldexError } from '../../base/errors.ts'
import { lazyModule } from '../../base/lazy-module.ts'
import type { FoundEntry } from '../../catalog/index.ts'
import type { StoredPolicy } from '../../contract/bundle.ts'
import type { RunnableTool } from '../../contract/executor.ts'
import type { RegisteredTool } from '../../contract/registry.ts'
import { runCodeName } from '../../rules/builtin-names.ts'
import { type CallerIdentity, policiesFor, ruleForTool } from '../../rules/policy-rules.ts'
import { findTightening, findUnboundArgument, withLatestProtection } from '../../rules/protection.ts'
import { toRunnableTool } from '../../rules/runnable-tool.ts'
import type { NamedRule } from '../../rules/toolset-rules.ts'
import { readToolsetRules } from '../catalog/caller-toolsets.ts'
import { findTool } from '../catalog/find-tool.ts'
import { isCallable, type NamedTool, resolveName, toolInVersion } from '../catalog/resolve-name.ts'
import type { OperationContext, ToolContext } from '../operation.ts'
import { validState } from '../operation.ts'

const loadRunCode = lazyModule(() => import('./run-code.ts'))

/** A callable tool, with its rules and warnings. */
export interface ResolvedCall {
  readonly tool: RunnableTool
  /** The tool in catalog form. */
  readonly id: string
  /** The sources of the approval requirement: the tool itself, or policies; empty if no approval is required. */
  readonly approvalBy: readonly string[]
  readonly warning?: string | undefined
}

/** The tool of a call, if the caller may call it: of a config, or registered, in the requested version. */
export async function resolveCall(
  context: ToolContext,
  name: string,
  version: number | undefined,
): Promise<ResolvedCall> {
  if (name === runCodeName) return (await loadRunCode()).resolveProgram(context, version)
  // Both are queried at once.
  const [named, policyRules, toolsetRules] = await Promise.all([
    resolveName(context, name),
    readRules(context),
    readToolsetRules(context),
  ])
  const rulesOn = (tool: string) => combine(policyRules(tool), inToolsets)
  const inToolsets = named === undefined ? [] : await toolsetRules(named)
  const call =
    named?.registered === undefined
      ? named && resolveEntry(context, named, { version, stored: rulesOn(named.tool.name) })
      : await resolveRegistered(context, named, {
          version,
          bound: withFileRule(context, named.registered.name, rulesOn),
        })
  if (call !== undefined) return call
  // The error for a hidden tool is that for an unknown one.
  const { id } = await findTool(context, name)
  throw new TooldexError('UNAVAILABLE', `${id} cannot be run here.`, {
    hint: 'Read about it with describe_tool.',
    personHint: 'Read about it with: tooldex describe',
  })
}

/** A tool of a config, which has the bounds of the policy file already, or one that the program adds itself. */
function resolveEntry(
  context: OperationContext<'catalog'>,
  { id, tool: { name }, runnable }: FoundEntry,
  { version, stored }: { version: number | undefined; stored: Rules },
): ResolvedCall | undefined {
  if (runnable === undefined || stored === undefined) return undefined
  refuseVersion(name, version)
  if (runnable.resolved === undefined) {
    const bound = withFileRule(context, name, () => stored)
    return bound && { id, ...bindConfigTool(runnable, bound) }
  }
  return { id, ...bindConfigTool(runnable, [...stored, ...fileApproval(context.catalog, name)]) }
}

/** The approval requirement of the policy file, whose bounds are part of the tools of configs. */
export function fileApproval(catalog: OperationContext<'catalog'>['catalog'], tool: string): readonly NamedRule[] {
  const isRequired = ruleForTool(catalog.filePolicy(), tool)?.requireApproval === true
  return isRequired ? [{ requireApproval: true, args: {}, of: 'the policy file' }] : []
}

async function resolveRegistered(
  context: ToolContext,
  named: NamedTool,
  { version, bound }: { version: number | undefined; bound: Rules },
): Promise<ResolvedCall | undefined> {
  const { id, registered: latest } = named
  if (bound === undefined) return undefined
  refuseInactive(latest)
  if (version !== undefined && named.version !== undefined && version !== named.version)
    throw new TooldexError(
      'INPUT_INVALID',
      `The name has version ${named.version}, but the call has version ${version}.`,
      {
        hint: 'Pass the version once.',
      },
    )
  const pinned = await toolInVersion(context, latest, version ?? named.version)
  const runnable = bindRegisteredTool(pinned, latest, bound)
  if (pinned !== latest) refuseWeaker(context, pinned, latest)
  return {
    ...runnable,
    id,
    ...(latest.status === 'DEPRECATED' ? { warning: `${latest.name} is deprecated and may be removed.` } : {}),
  }
}

/** Rejects a pinned version that would bypass a protection which the tool has gained since. */
function refuseWeaker({ scopes }: OperationContext, pinned: RegisteredTool, latest: RegisteredTool): void {
  const { name, version } = pinned
  const tightening = findTightening(pinned, latest)
  if (tightening === undefined || scopes.has('write')) return
  throw new TooldexError(
    'FORBIDDEN',
    `Version ${latest.version} of ${name} ${tightening}; calling version ${version} needs the scope 'write'.`,
    { hint: 'Call the latest version: leave the version out.' },
  )
}

function refuseInactive(tool: RegisteredTool): void {
  if (isCallable(tool)) return
  const { name, status } = tool
  throw new TooldexError('TOOL_DISABLED', `${name} is ${status} and cannot be called.`)
}

function refuseVersion(name: string, version: number | undefined): void {
  if (version === undefined) return
  throw new TooldexError('INPUT_INVALID', `${name} is not a registered tool and has no versions.`, {
    hint: 'Leave version out.',
  })
}

/** The rules of stored policies for each tool and this caller; undefined for a hidden tool. */
async function readRules(context: OperationContext<'registry?'>): Promise<(tool: string) => Rules> {
  const { registry, caller } = context
  const stored = await registry?.stores.policies.list(caller.workspace, validState(context))
  const rulesOn = rulesByPolicy(stored ?? [], caller)
  return (tool) => {
    const { rules, hiddenBy } = rulesOn(tool)
    return hiddenBy.length > 0 ? undefined : rules
  }
}

type Rules = readonly NamedRule[] | undefined

const combine = (rules: Rules, more: Rules): Rules => rules && more && [...rules, ...more]

/** The rules for a registered tool with that of the policy file; tools of configs are loaded under the file already. */
function withFileRule(
  { catalog, caller }: OperationContext<'catalog'>,
  tool: string,
  rulesOn: (tool: string) => Rules,
): Rules {
  const stored = rulesOn(tool)
  const policy = catalog.filePolicy()
  if (policy === undefined || policiesFor([policy], caller).length === 0) return stored
  const rule = ruleForTool(policy, tool)
  return stored === undefined || rule === undefined ? undefined : [...stored, { ...rule, of: 'the policy file' }]
}

/** Checks a call again after it waited, against the current tool and policies. */
export const recheckOf =
  (
    context: OperationContext<'catalog' | 'registry?' | 'runner'>,
    { tool, id }: ResolvedCall,
    input: Readonly<Record<string, unknown>>,
  ) =>
  async (): Promise<void> => {
    const now = await resolveCall({ ...context, present: undefined }, tool.id ?? id, tool.version ?? undefined)
    if (now.approvalBy.length > 0)
      throw new TooldexError('APPROVAL_NEEDED', `${tool.name} now requires approval of each call; call it again.`)
    await context.runner.prepare(now.tool, input)
  }

/** The sources of the approval requirement, as returned to callers. */
export const ApprovalBy = z
  .array(z.string())
  .describe('The sources of the approval requirement: the tool itself, or policies by name.')

/** Whether a call requires approval, and the sources of the requirement. */
export const approvalOf = ({ approvalBy }: ResolvedCall) => ({
  needsApproval: approvalBy.length > 0,
  approvalBy: [...approvalBy],
})

/** A tool with the bounds of its rules, and the sources of the approval requirement. */
export interface BoundTool {
  readonly tool: RunnableTool
  readonly approvalBy: readonly string[]
}

/** The rules of a caller's policies for each tool; a hidden tool has the names of the policies that hide it. */
export function rulesByPolicy(policies: readonly StoredPolicy[], caller: CallerIdentity) {
  const binding = policiesFor(
    policies.map(({ name, policy }) => ({ ...policy, of: `the policy ${name}` })),
    caller,
  )
  return (tool: string): { readonly rules: readonly NamedRule[]; readonly hiddenBy: readonly string[] } => {
    const found = binding.map((policy) => ({ rule: ruleForTool(policy, tool), of: policy.of }))
    return {
      rules: found.flatMap(({ rule, of }) => (rule === undefined ? [] : [{ ...rule, of }])),
      hiddenBy: found.flatMap(({ rule, of }) => (rule === undefined ? [of] : [])),
    }
  }
}

/** A tool of a config under rules; the bounds of the policy file are part of it already. */
export function bindConfigTool(runnable: RunnableTool, rules: readonly NamedRule[]): BoundTool {
  const constraints = [...runnable.constraints, ...rules.map(({ args }) => args)]
  const tool = rules.length === 0 ? runnable : { ...runnable, constraints }
  return { tool, approvalBy: approvalSources(tool, rules) }
}

/** A version of a registered tool under rules. */
export function bindRegisteredTool(
  called: RegisteredTool,
  latest: RegisteredTool,
  rules: readonly NamedRule[],
): BoundTool {
  refuseUnbound(called, latest, rules)
  const tool = toRunnableTool(withLatestProtection(called, latest), rules)
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
