import type { BundlePolicy } from '../../contract/bundle.ts'
import type { CatalogView } from '../../contract/catalog.ts'
import { type Policy, policiesFor, rulesFor, visibleNames } from '../../contract/policy.ts'
import type { Readiness } from '../../contract/tool-state.ts'
import type { OperationContext } from '../operation.ts'

/** What one caller may know of the tools, as the stored policies and the policy file say. */
export interface ToolView extends CatalogView {
  sees(tool: { readonly name: string }): boolean
  readinessOf(tool: { readonly name: string }, readiness: Readiness): Readiness
  /** The names of all tools that the caller may know of; undefined where none is hidden. */
  readonly names: ReadonlySet<string> | undefined
  /** The policy that hides a tool. */
  hiddenBy(toolName: string): string | undefined
}

/** Said of a tool of which each call needs a person's yes. */
export const needsApproval: Readiness = Object.freeze({
  state: 'needs-approval',
  reason: 'a person must approve each call',
})

/** What whoever asks may know of; undefined where no policy binds them. */
export async function viewOf(context: OperationContext): Promise<ToolView | undefined> {
  const named = await keptPolicies(context)
  // Tools of configs are loaded under the file already; without a registry there are no others.
  const ofFile = context.registry === undefined ? undefined : context.catalog.current().policy
  const file = ofFile === undefined ? [] : [{ name: 'file', policy: ofFile }]
  const binding = policiesFor(
    [...named, ...file].map(({ name, policy }) => ({ ...policy, name })),
    context.caller.actor,
  )
  return binding.length === 0 ? undefined : toView(binding, context.caller.actor)
}

/** The names that whoever asks may read of in the registry: owners of tools see all, others what they may call. */
export async function readableNames(context: OperationContext): Promise<ReadonlySet<string> | undefined> {
  return context.scopes.has('write') ? undefined : (await viewOf(context))?.names
}

/** The catalog knows the policies as of its last change; without one that follows the database they are read there. */
async function keptPolicies({ catalog, registry, caller }: OperationContext): Promise<readonly BundlePolicy[]> {
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
      const asks = rulesFor(binding, name, actor)?.some(({ requireApproval }) => requireApproval === true)
      return asks ? needsApproval : readiness
    },
    hiddenBy: (toolName) =>
      binding.find((policy) => policy.default === 'disabled' && !Object.hasOwn(policy.tools, toolName))?.name,
  }
}
