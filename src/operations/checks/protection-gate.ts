import { TooldexError } from '../../base/errors.ts'
import { yieldTurns } from '../../base/yield-turns.ts'
import type { BundlePolicy } from '../../contract/bundle.ts'
import { LlmFormat } from '../../contract/llm.ts'
import type { ToolRule } from '../../contract/policy.ts'
import type { RegisteredTool, ToolContent } from '../../contract/registry.ts'
import { aliasCandidates } from '../../definitions/index.ts'
import { requiresApproval } from '../../rules/protection.ts'
import { formatToolId } from '../../rules/tool-id.ts'
import { findUnregistered } from '../catalog/resolve-name.ts'
import type { OperationContext } from '../operation.ts'
import { changesBehaviour } from './replay-gate.ts'
import { diffToolInThread } from './tool-threads.ts'

/** A change of a tool, and the policies to check it against. */
export interface ToolEdit {
  readonly policies: readonly BundlePolicy[]
  readonly current: RegisteredTool
  readonly next: ToolContent
}

/** The rule of each stored policy for a tool, with the name of the policy. */
const rulesOn = (policies: readonly BundlePolicy[], toolName: string): readonly (readonly [string, ToolRule])[] =>
  policies.flatMap(({ name, policy: { tools } }) => {
    const rule = Object.hasOwn(tools, toolName) ? tools[toolName] : undefined
    return rule === undefined ? [] : [[name, rule] as const]
  })

/** A proposal whose acceptance makes a change, and the protections at the time it was made. */
interface ProposedEdit {
  readonly createdBy: string | null
  /** The version that it is based on, if known. */
  readonly base: ToolContent | undefined
  /** The policies that were added or changed since. */
  readonly newPolicies: readonly string[]
}

/** A protection that a change removes from a tool. */
interface Loosening {
  readonly message: string
  /** Whether it protected the tool when the proposal was made. */
  readonly wasInForce: boolean
  readonly adminOnly?: boolean
}

/** Every protection that a change removes from a tool. */
async function findLoosenings(
  { policies, current, next }: ToolEdit,
  proposal?: ProposedEdit,
): Promise<readonly Loosening[]> {
  const { name } = current
  const found: Loosening[] = []
  const wasApproved = proposal?.base !== undefined && requiresApproval(proposal.base)
  if (requiresApproval(current)) {
    if (!requiresApproval(next))
      found.push({
        message: `After this change, calls of ${name} would no longer require approval.`,
        wasInForce: wasApproved,
      })
    if (next.name !== name && current.status !== 'DRAFT')
      found.push({
        message: `Calls of ${name} require approval, and after this change another tool could take its name.`,
        wasInForce: wasApproved,
        adminOnly: true,
      })
  }
  const changes = await changesArguments(current, next)
  for (const [policy, { args }] of rulesOn(policies, name)) {
    const wasInForce = proposal?.newPolicies.includes(policy) === false
    if (next.name !== name)
      found.push({ message: `The policy ${policy} has a rule for ${name}, which this change renames.`, wasInForce })
    if (changes && Object.keys(args).length > 0)
      found.push({
        message: `The policy ${policy} bounds arguments of ${name}, and this change affects what they do.`,
        wasInForce,
      })
  }
  return found
}

/** Whether a change affects the input or the behavior of the tool, beyond the wording of its schema. */
async function changesArguments(before: ToolContent, after: ToolContent): Promise<boolean> {
  if (changesBehaviour({ ...before, inputSchema: {} }, { ...after, inputSchema: {} })) return true
  if (!changesBehaviour(before, after)) return false
  const change = (await diffToolInThread(before, after)).fields.find(({ field }) => field === 'inputSchema')
  return change !== undefined && change.class !== 'wording'
}

/**
 * Rejects a change that loosens the protection of a tool, unless an admin makes it or another caller proposed it: no single
 * key with write and call can bypass an approval. A proposal loosens only protections that existed when it was made.
 */
async function refuseLoosening(
  { scopes, caller }: OperationContext,
  edit: ToolEdit,
  proposal?: ProposedEdit,
): Promise<void> {
  if (scopes.has('admin')) return
  const loosenings = await findLoosenings(edit, proposal)
  const [first] = loosenings
  if (first === undefined) return
  const reserved = loosenings.find(({ adminOnly }) => adminOnly)
  if (reserved !== undefined)
    throw new TooldexError('FORBIDDEN', `${reserved.message} This needs the scope 'admin'.`, {
      hint: 'Keep the name (displayName may change), or ask an admin.',
    })
  const isAnothers = proposal !== undefined && proposal.createdBy !== null && proposal.createdBy !== caller.actor
  const added = loosenings.find(({ wasInForce }) => !wasInForce)
  if (isAnothers && added === undefined) return
  if (isAnothers && added !== undefined)
    throw new TooldexError(
      'FORBIDDEN',
      `${added.message} This protection was added or changed after the proposal was made; accepting it needs the scope 'admin'.`,
      { hint: 'Propose the change again, based on the tool as it is now, or ask an admin.' },
    )
  throw new TooldexError(
    'FORBIDDEN',
    `${first.message} This needs the scope 'admin', or the acceptance of another person.`,
    {
      hint:
        proposal === undefined
          ? 'Propose the change (tooldex tools propose); somebody with another key that has the scope write can accept it.'
          : 'You proposed this change yourself: ask somebody with another key that has the scope write to accept it.',
    },
  )
}

/** Rejects deletion of a protected tool without the scope 'admin': an unprotected tool could take over its name. */
export function refuseUnprotecting(
  { scopes }: OperationContext,
  { policies, current }: Pick<ToolEdit, 'policies' | 'current'>,
): void {
  if (scopes.has('admin') || current.status === 'DRAFT') return
  const isRuled = rulesOn(policies, current.name).some(([, rule]) => isProtecting(rule))
  if (!requiresApproval(current) && !isRuled) return
  const why = isRuled ? 'is protected by a policy' : 'requires approval of each call'
  throw new TooldexError('FORBIDDEN', `${current.name} ${why}; deleting it needs the scope 'admin'.`, {
    hint: 'Deactivate it instead, or ask an admin.',
  })
}

const isProtecting = ({ args, requireApproval, requireReplay }: ToolRule): boolean =>
  requireApproval === true || requireReplay !== undefined || Object.keys(args).length > 0

/** The policy with a rule for a name, if any. */
const policyNaming = (policies: readonly BundlePolicy[], toolName: string): string | undefined =>
  rulesOn(policies, toolName)[0]?.[0]

/** Rejects a change that loosens the protection of a tool, or takes a name that belongs to another. */
export async function refuseUnsafeChange(
  context: OperationContext<'catalog'>,
  edit: ToolEdit,
  proposal?: ProposedEdit,
): Promise<void> {
  await refuseLoosening(context, edit, proposal)
  await refuseTakenName(context, edit.next, edit)
}

type Named = Pick<ToolContent, 'name' | 'namespace'>

/**
 * Rejects a name that another source offers, that is the alias of another tool in lists for models, or that a policy has a
 * rule for, without the scope 'admin': calls and permissions meant for the other tool would apply to this one.
 */
export async function refuseTakenName(
  context: OperationContext<'catalog'>,
  next: Named,
  { current, policies }: { readonly current?: Named; readonly policies: readonly BundlePolicy[] },
): Promise<void> {
  if (context.scopes.has('admin')) return
  if (current !== undefined && current.name === next.name && current.namespace === next.namespace) return
  const owner = await findOwner(context, next, policies, current)
  if (owner === undefined) return
  throw new TooldexError('FORBIDDEN', `${owner}; giving it to a registered tool needs the scope 'admin'.`, {
    hint: 'Choose another name and namespace, or ask an admin.',
  })
}

const isOfServer = ({ tool }: { readonly tool: { readonly source?: string | undefined } }): boolean =>
  tool.source === 'mcp'

async function findOwner(
  { catalog }: OperationContext<'catalog'>,
  { name, namespace }: Named,
  policies: readonly BundlePolicy[],
  current: Named | undefined,
): Promise<string | undefined> {
  const tools = await catalog.open()
  const offered = findUnregistered(tools, name)
  if (offered !== undefined)
    return `The name ${name} is that of ${offered.id}, a tool of a ${isOfServer(offered) ? 'source' : 'config'}`
  if (namespace && catalog.current().configs.some(({ config }) => config.name === namespace))
    return `The namespace ${namespace} is that of a config`
  const isTaken = (other: string | undefined) => other?.toLowerCase() === namespace?.toLowerCase()
  if (namespace && tools.list().some((found) => isOfServer(found) && isTaken(found.tool.namespace)))
    return `The namespace ${namespace} is that of a source`
  if (current?.name === name) return undefined
  const policy = policyNaming(policies, name)
  if (policy !== undefined) return `The policy ${policy} has a rule for the name ${name}`
  const turn = yieldTurns()
  for (const { tool } of tools.entries.values()) {
    await turn()
    const isAlias = LlmFormat.options.some((format) => aliasCandidates(tool, format).includes(name))
    if (isAlias && tool.name !== name)
      return `The name ${name} is what ${formatToolId(tool)} is called in lists for models`
  }
  return undefined
}
