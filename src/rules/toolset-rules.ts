import type { Policy, ToolRule } from '../contract/policy.ts'
import type { Category } from '../contract/registry.ts'
import type { ResolvedToolset, Toolset } from '../contract/toolset.ts'
import type { Finding } from '../diagnostics/finding.ts'
import { normalizeTags } from './normalize-tags.ts'
import {
  type CallerIdentity,
  checkPolicy,
  type FaultOfPattern,
  namesCaller,
  policiesFor,
  ruleForTool,
} from './policy-rules.ts'
import { toFullId } from './tool-id.ts'

/** The properties of a tool that the filter of a toolset compares. */
export interface FilteredTool {
  readonly name: string
  readonly namespace?: string | null | undefined
  /** Normalized. */
  readonly tags?: readonly string[] | undefined
  readonly category?: string | null | undefined
}

/** Adds the subcategories of its filter to a toolset. */
export function resolveToolset(toolset: Toolset, all: readonly Category[]): ResolvedToolset {
  const { categories = [] } = toolset.filter
  const tagged = toolset.filter.tags?.length ? new Set(normalizeTags(toolset.filter.tags)) : undefined
  if (categories.length === 0) return { ...toolset, tagged, within: undefined }
  const wanted = new Set(categories.map(lower))
  const within = new Set(wanted)
  let level = all.filter(({ id, name }) => wanted.has(id) || wanted.has(lower(name)))
  while (level.length > 0) {
    for (const { name } of level) within.add(lower(name))
    const above = new Set(level.map(({ id }) => id))
    level = all.filter(({ parentId, name }) => parentId !== null && above.has(parentId) && !within.has(lower(name)))
  }
  return { ...toolset, tagged, within }
}

/** Whether a tool passes the filter of a toolset, without its readiness. */
export function isInToolset({ filter, within, tagged }: ResolvedToolset, tool: FilteredTool): boolean {
  const { namespaces, names } = filter
  const namespace = lower(tool.namespace ?? '')
  return (
    isOpen(namespaces, (each) => lower(each) === namespace) &&
    (within === undefined || (tool.category != null && within.has(lower(tool.category)))) &&
    (tagged === undefined || tool.tags?.some((tag) => tagged.has(tag)) === true) &&
    isOpen(names, (each) => isNameOf(each, tool))
  )
}

/** Whether a filter field is absent or one of its values matches. */
const isOpen = (values: readonly string[] | undefined, matches: (value: string) => boolean): boolean =>
  values === undefined || values.length === 0 || values.some(matches)

/** Whether a name in a toolset is that of a tool: its bare name, or its id without a version. */
export const isNameOf = (name: string, tool: FilteredTool): boolean => name === tool.name || name === toFullId(tool)

const lower = (text: string): string => text.toLowerCase()

/** The rule of a policy for one tool, and the source of the rule as messages name it. */
export interface NamedRule extends ToolRule {
  readonly of: string
}

/**
 * The rules that toolsets add to a call of a tool by a caller: those of every toolset that contains the tool; undefined where
 * none does.
 */
export function toolsetRules(
  toolsets: readonly ResolvedToolset[],
  tool: FilteredTool,
  caller: CallerIdentity,
): readonly NamedRule[] | undefined {
  const containing = toolsets.flatMap((toolset) => {
    if (!isInToolset(toolset, tool)) return []
    const policies: readonly Policy[] = toolset.policy === undefined ? [] : policiesFor([toolset.policy], caller)
    const rules = policies.map((policy) => ruleForTool(policy, tool.name))
    if (rules.includes(undefined)) return []
    return [rules.map((rule): NamedRule => ({ ...(rule as ToolRule), of: `the toolset ${toolset.name}` }))]
  })
  return containing.length === 0 ? undefined : containing.flat()
}

/** Whether a caller may use a toolset. */
export const mayUse = ({ callers }: Toolset, caller: CallerIdentity): boolean =>
  callers === undefined || callers.some((name) => namesCaller(name, caller))

/** Returns the contradictions in a toolset whose fields are each well formed. */
export function checkToolset({ mode, pinned = [], policy }: Toolset, faultOf?: FaultOfPattern): readonly Finding[] {
  const found: Finding[] = []
  if (mode === 'pinned' && pinned.length === 0)
    found.push({ path: ['pinned'], message: 'pinned is required in the mode pinned', hint: 'list at least one tool' })
  if (mode !== 'pinned' && pinned.length > 0)
    found.push({ path: ['pinned'], message: `pinned has no effect in the mode ${mode}`, hint: 'set mode: pinned' })
  const rules = policy === undefined ? [] : checkPolicy(policy, faultOf)
  return [...found, ...rules.map((finding) => ({ ...finding, path: ['policy', ...finding.path] }))]
}
