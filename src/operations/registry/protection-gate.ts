import { TooldexError } from '../../base/errors.ts'
import { diffTools } from '../../catalog/versions/index.ts'
import type { BundlePolicy } from '../../contract/bundle.ts'
import type { ToolRule } from '../../contract/policy.ts'
import { requiresApproval } from '../../contract/protection.ts'
import type { RegisteredTool, ToolContent } from '../../contract/registry.ts'
import type { OperationContext } from '../operation.ts'
import { changesBehaviour } from './replay-gate.ts'

/** A change of a tool, and the policies that may stand in its way. */
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

/** The protection that a change takes away from a tool; undefined where it takes none. */
function findLoosening({ policies, current, next }: ToolEdit): string | undefined {
  if (requiresApproval(current) && !requiresApproval(next))
    return `After this change, calls of ${current.name} would no longer require approval.`
  const rules = rulesOn(policies, current.name)
  const [ruled] = rules
  if (ruled !== undefined && next.name !== current.name)
    return `The policy ${ruled[0]} has a rule for ${current.name}, which this change renames.`
  const bounding = rules.find(([, { args }]) => Object.keys(args).length > 0)
  if (bounding !== undefined && changesArguments(current, next))
    return `The policy ${bounding[0]} bounds arguments of ${current.name}, and this change affects what they do.`
  return undefined
}

/** Whether a change is one of what the tool takes or does, beyond the wording of its schema. */
function changesArguments(before: ToolContent, after: ToolContent): boolean {
  if (changesBehaviour({ ...before, inputSchema: {} }, { ...after, inputSchema: {} })) return true
  if (!changesBehaviour(before, after)) return false
  const change = diffTools(before, after).fields.find(({ field }) => field === 'inputSchema')
  return change !== undefined && change.class !== 'wording'
}

/**
 * Refuses a change that loosens the protection of a tool, unless an admin makes it or somebody else proposed it: with one
 * key that may write and call, nobody gets around the approval of another person.
 */
export function refuseLoosening(
  { scopes, caller }: OperationContext,
  edit: ToolEdit,
  proposedBy?: string | null,
): void {
  if (scopes.has('admin')) return
  const loosening = findLoosening(edit)
  if (loosening === undefined) return
  const isAnothers = proposedBy != null && proposedBy !== caller.actor
  if (isAnothers) return
  throw new TooldexError(
    'FORBIDDEN',
    `${loosening} This needs the scope 'admin', or the acceptance of another person.`,
    {
      hint:
        proposedBy === undefined
          ? 'Propose the change (tooldex tools propose); somebody with another key that has the scope write can accept it.'
          : 'You proposed this change yourself: ask somebody with another key that has the scope write to accept it.',
    },
  )
}

/** Refuses to delete a protected tool without the scope 'admin': under its name another could take its place unprotected. */
export function refuseUnprotecting(
  { scopes }: OperationContext,
  { policies, current }: Pick<ToolEdit, 'policies' | 'current'>,
): void {
  if (scopes.has('admin') || current.status === 'DRAFT') return
  const isRuled = rulesOn(policies, current.name).some(([, rule]) => isProtecting(rule))
  if (!requiresApproval(current) && !isRuled) return
  const why = isRuled ? 'is protected by a policy' : 'requires approval of each call'
  throw new TooldexError('FORBIDDEN', `${current.name} ${why}; deleting it needs the scope 'admin'.`, {
    hint: 'Deactivate it instead (tooldex tools deactivate), or ask an admin.',
  })
}

const isProtecting = ({ args, requireApproval, requireReplay }: ToolRule): boolean =>
  requireApproval === true || requireReplay !== undefined || Object.keys(args).length > 0

/** The policy that has a rule for a name, where one has. */
export const policyNaming = (policies: readonly BundlePolicy[], toolName: string): string | undefined =>
  rulesOn(policies, toolName)[0]?.[0]
