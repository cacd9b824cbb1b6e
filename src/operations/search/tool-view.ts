import type { BundlePolicy } from '../../contract/bundle.ts'
import type { CatalogView } from '../../contract/catalog.ts'
import type { Policy } from '../../contract/policy.ts'
import type { Readiness } from '../../contract/tool-state.ts'
import { policiesFor, rulesFor, visibleNames } from '../../rules/policy-rules.ts'
import type { OperationContext, ToolContext } from '../operation.ts'

/** The tools that are visible to one caller, by the stored policies and the policy file. */
export interface ToolView extends CatalogView {
  sees(tool: { readonly name: string }): boolean
  readinessOf(tool: { readonly name: string }, readiness: Readiness): Readiness
  /** The names of all visible tools; undefined if none is hidden. */
  readonly names: ReadonlySet<string> | undefined
  /** The policy that hides a tool. */
  hiddenBy(toolName: string): string | undefined
}

/** The note on a tool whose calls each require approval. */
export const needsApproval: Readiness = Object.freeze({
  state: 'needs-approval',
  reason: 'a person must approve each call',
})

/** The view of the caller; undefined if no policy applies. */
export async function viewOf(context: ToolContext): Promise<ToolView | undefined> {
  // Tools of configs are loaded under the file already; without a registry there are no others.
  const named = context.registry === undefined ? [] : withFilePolicy(context, await keptPolicies(context))
  const binding = policiesFor(
    named.map(({ name, policy }) => ({ ...policy, name })),
    context.caller.actor,
  )
  return binding.length === 0 ? undefined : toView(binding, context.caller.actor)
}

/**
 * The names that the caller may read in the registry: keys with the scope write see all, others the tools they may call.
 */
export async function readableNames(context: ToolContext): Promise<ReadonlySet<string> | undefined> {
  return context.scopes.has('write') ? undefined : (await viewOf(context))?.names
}

/** The policies that protect registered tools: those stored in the workspace, and the policy file of this process. */
export const policiesOf = async (context: ToolContext): Promise<readonly BundlePolicy[]> =>
  withFilePolicy(context, (await context.registry?.stores.policies.list(context.caller.workspace)) ?? [])

/** Stored policies with the policy file, which messages call the policy file. */
export function withFilePolicy(
  { catalog }: OperationContext<'catalog'>,
  stored: readonly BundlePolicy[],
): BundlePolicy[] {
  const policy = catalog.filePolicy()
  return policy === undefined ? [...stored] : [...stored, { name: 'file', policy }]
}

/** The catalog has the policies as of its last change; one that does not follow the database reads them there. */
async function keptPolicies({ catalog, registry, caller }: ToolContext): Promise<readonly BundlePolicy[]> {
  if (registry === undefined) return []
  return catalog.policies ?? (await registry.stores.policies.list(caller.workspace))
}

function toView(binding: readonly (Policy & { readonly name: string })[], actor: string): ToolView {
  const names = visibleNames(binding, actor)
  return {
    names,
    sees: ({ name }) => names?.has(name) ?? true,
    readinessOf({ name }, readiness) {
      if (readiness.state !== 'ready') return readiness
      const isRequired = rulesFor(binding, name, actor)?.some(({ requireApproval }) => requireApproval === true)
      return isRequired ? needsApproval : readiness
    },
    hiddenBy: (toolName) =>
      binding.find((policy) => policy.default === 'disabled' && !Object.hasOwn(policy.tools, toolName))?.name,
  }
}
