import { sameOrderedJson } from '../../base/json-values.ts'
import { yieldTurns } from '../../base/yield-turns.ts'
import type { Bundle, BundleCategory, BundlePlan, BundleTool, PlannedChange, PlanPart } from '../../contract/bundle.ts'

/**
 * The changes that turn `current` into `wanted`. Entries missing from `wanted` are removed only with `prune`, and of a namespace only its
 * tools.
 */
export async function planBundle(
  current: Bundle,
  wanted: Bundle,
  { prune, namespace }: { readonly prune: boolean; readonly namespace?: string | undefined },
): Promise<BundlePlan> {
  const known = new Map(current.tools.map((tool) => [tool.name, tool]))
  const tools = wanted.tools.map((tool) => toCompare(tool, known.get(tool.name)))
  const currentTools = current.tools.map((tool) => toCompare(tool))
  const isOwn = (tool: Pick<BundleTool, 'namespace'>) => namespace === undefined || tool.namespace === namespace
  const own = currentTools.filter((tool) => prune && isOwn(tool))
  const part = await planPart(currentTools, tools, new Set(own.map(({ name }) => name)))
  const pruned = (items: readonly { readonly name: string }[]) =>
    new Set(prune && namespace === undefined ? items.map(({ name }) => name) : [])
  const wantedStatus = new Map(tools.map(({ name, status }) => [name, status]))
  const withStatus = (change: PlannedChange): PlannedChange => {
    const [from, to] = [known.get(change.name)?.status ?? 'DRAFT', wantedStatus.get(change.name) ?? 'DRAFT']
    return from === to ? change : { ...change, status: { from, to } }
  }
  return {
    ...part,
    change: part.change.map(withStatus),
    categories: inTreeOrder(
      await planPart(current.categories, wanted.categories, pruned(current.categories)),
      current,
      wanted,
    ),
    policies: await planPart(current.policies, wanted.policies, pruned(current.policies)),
    toolsets: await planPart(current.toolsets, wanted.toolsets, pruned(current.toolsets)),
    limits: await planPart(current.limits, wanted.limits, pruned(current.limits)),
    sources: await planPart(current.sources, wanted.sources, pruned(current.sources)),
  }
}

/** The content of a tool in its target state, without other fields. */
function toCompare({ changelog: _, ...tool }: BundleTool, known?: BundleTool) {
  return { ...tool, status: tool.status ?? known?.status ?? 'DRAFT' }
}

async function planPart<T extends { readonly name: string }>(
  current: readonly T[],
  wanted: readonly T[],
  pruned: ReadonlySet<string>,
): Promise<PlanPart> {
  const before = new Map(current.map((item) => [item.name, item]))
  const after = new Map(wanted.map((item) => [item.name, item]))
  const kept = [...after.keys()].filter((name) => before.has(name)).sort()
  const change: PlannedChange[] = []
  const turn = yieldTurns()
  for (const name of kept) {
    const fields = changedFields(before.get(name), after.get(name))
    if (fields.length > 0) change.push({ name, fields })
    await turn()
  }
  return {
    create: [...after.keys()].filter((name) => !before.has(name)).sort(),
    change,
    remove: [...before.keys()].filter((name) => pruned.has(name) && !after.has(name)).sort(),
    unchanged: kept.length - change.length,
  }
}

/** The fields in which two entries differ; the order of keys inside a field is significant. */
function changedFields(before: object = {}, after: object = {}): readonly string[] {
  const [a, b] = [before, after] as Record<string, unknown>[]
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...names].filter((name) => !sameOrderedJson(a?.[name], b?.[name])).sort()
}

/** Parents are created before their children and removed after them. */
function inTreeOrder(part: PlanPart, current: Bundle, wanted: Bundle): PlanPart {
  const [before, after] = [depthsOf(current.categories), depthsOf(wanted.categories)]
  return {
    ...part,
    create: part.create.toSorted((a, b) => depth(after, a) - depth(after, b)),
    change: part.change.toSorted((a, b) => depth(after, a.name) - depth(after, b.name)),
    remove: part.remove.toSorted((a, b) => depth(before, b) - depth(before, a)),
  }
}

const depth = (depths: ReadonlyMap<string, number>, name: string) => depths.get(name) ?? 0

function depthsOf(categories: readonly BundleCategory[]): ReadonlyMap<string, number> {
  const parents = new Map(categories.map(({ name, parent }) => [name, parent]))
  const depths = new Map<string, number>()
  for (const { name } of categories) {
    const way: string[] = []
    for (let at: string | null = name; at !== null && !depths.has(at); at = parents.get(at) ?? null) {
      way.push(at)
      // A placeholder that ends a cycle.
      depths.set(at, 0)
    }
    let above = depths.get(parents.get(way.at(-1) ?? '') ?? '') ?? -1
    for (const step of way.reverse()) depths.set(step, ++above)
  }
  return depths
}
