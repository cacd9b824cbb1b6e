import type { Catalog } from '../../catalog/index.ts'
import type { BundlePolicy } from '../../contract/bundle.ts'
import type { CatalogTool, CatalogView, FilteredFields, Readiness } from '../../contract/catalog.ts'
import type { RunnableTool } from '../../contract/executor.ts'
import type { Policy } from '../../contract/policy.ts'
import type { ResolvedToolset } from '../../contract/toolset.ts'
import { policiesFor, toolRulesFor, visibleToolNames } from '../../rules/policy-rules.ts'
import { type NamedRule, toolsetRules } from '../../rules/toolset-rules.ts'
import { toolsetsOfRequest } from '../catalog/caller-toolsets.ts'
import type { OperationContext, ToolContext } from '../operation.ts'

/** A tool of the catalog, with the form that its readiness depends on. */
export interface ShownTool {
  readonly tool: CatalogTool
  readonly runnable?: RunnableTool | undefined
}

/** The tools that are visible to one caller, by the stored policies, the policy file and the toolsets of the request. */
export interface ToolView extends CatalogView {
  readinessOf(tool: CatalogTool, readiness: Readiness): Readiness
  /** Whether the caller sees a tool in its present state. */
  shows(found: ShownTool): boolean
  /** The names of all visible tools; undefined if none is hidden. A name that also belongs to a hidden tool is left out. */
  readonly names: ReadonlySet<string> | undefined
  /** The policy or toolset that hides a tool, as messages name it. */
  hiddenBy(tool: CatalogTool): string
}

/** The note on a tool whose calls each require approval. */
export const needsApproval: Readiness = Object.freeze({
  state: 'needs-approval',
  reason: 'a person must approve each call',
})

/** The view of the caller; undefined if no policy applies and no toolset restricts the request. */
export async function toolViewOfCaller(context: ToolContext): Promise<ToolView | undefined> {
  const { caller } = context
  // Tools of configs are loaded under the file already.
  const hasOthers = context.registry !== undefined || context.catalog.hasProgramTools
  const named = hasOthers ? withFilePolicy(context, await keptPolicies(context)) : []
  const policies = policiesFor(
    named.map(({ name, policy }) => ({ ...policy, name })),
    caller,
  )
  if (caller.toolsets === undefined)
    return policies.length === 0 ? undefined : toView(context, { policies, tools: undefined, toolsets: undefined })
  return toView(context, { policies, tools: await context.catalog.open(), toolsets: await toolsetsOfRequest(context) })
}

/**
 * The names that the caller may read in the registry: keys with the scope write see all, others the tools they may call. A
 * toolset restricts all of them.
 */
export async function readableNames(context: ToolContext): Promise<ReadonlySet<string> | undefined> {
  const seesAll = context.scopes.has('write') && context.caller.toolsets === undefined
  return seesAll ? undefined : (await toolViewOfCaller(context))?.names
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

interface ViewParts {
  readonly policies: readonly (Policy & { readonly name: string })[]
  /** The catalog, where toolsets restrict the view. */
  readonly tools: Catalog | undefined
  readonly toolsets: readonly ResolvedToolset[] | undefined
}

function toView({ caller, catalog }: ToolContext, { policies, tools, toolsets }: ViewParts): ToolView {
  const allowed = visibleToolNames(policies, caller)
  const rulesIn = (tool: FilteredFields, of = toolsets): readonly NamedRule[] | undefined =>
    of === undefined ? [] : toolsetRules(of, tool, caller)
  const isReady = ({ filter: { readiness = [] } }: ResolvedToolset, state: Readiness['state']) =>
    readiness.length === 0 || readiness.includes(state)
  const view = {
    sees(tool: FilteredFields, readiness: () => Readiness): boolean {
      if (allowed?.has(tool.name) === false) return false
      if (toolsets === undefined) return true
      if (rulesIn(tool) === undefined) return false
      if (toolsets.every(({ filter }) => !filter.readiness?.length)) return true
      const { state } = readiness()
      return (
        rulesIn(
          tool,
          toolsets.filter((toolset) => isReady(toolset, state)),
        ) !== undefined
      )
    },
    readinessOf(tool: CatalogTool, readiness: Readiness): Readiness {
      if (readiness.state !== 'ready') return readiness
      const rules = [...(toolRulesFor(policies, tool.name, caller) ?? []), ...(rulesIn(tool) ?? [])]
      return rules.some(({ requireApproval }) => requireApproval === true) ? needsApproval : readiness
    },
    shows: (found: ShownTool) => view.sees(found.tool, () => view.readinessOf(found.tool, catalog.readinessOf(found))),
    hiddenBy: ({ name }: CatalogTool) =>
      allowed?.has(name) === false
        ? `the policy '${policies.find((policy) => policy.default === 'disabled' && !Object.hasOwn(policy.tools, name))?.name}'`
        : `the toolset ${toolsets?.map((toolset) => toolset.name).join(', ')}`,
    get names() {
      return tools === undefined ? allowed : namesIn(tools, view.shows)
    },
  }
  return view
}

function namesIn(tools: Catalog, shows: ToolView['shows']): ReadonlySet<string> {
  const names = new Set<string>()
  const hidden = new Set<string>()
  for (const found of tools.list()) (shows(found) ? names : hidden).add(found.tool.name)
  for (const name of hidden) names.delete(name)
  return names
}
