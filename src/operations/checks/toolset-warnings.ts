import { didYouMean } from '../../base/suggest.ts'
import { toOneLine } from '../../base/visible-text.ts'
import { suggestionSteps, WorkBudget } from '../../base/work-budget.ts'
import type { FoundEntry } from '../../catalog/index.ts'
import type { Category } from '../../contract/registry.ts'
import type { Toolset } from '../../contract/toolset.ts'
import { normalizeTags } from '../../rules/normalize-tags.ts'
import { toFullId } from '../../rules/tool-id.ts'
import { isInToolset, isNameOf, resolveToolset } from '../../rules/toolset-rules.ts'
import type { OperationContext } from '../operation.ts'

/** Names in a toolset that match nothing now; not an error, because tools may be registered later. */
export async function findToolsetWarnings(
  { catalog, registry, caller }: OperationContext<'catalog' | 'registry'>,
  toolset: Toolset,
): Promise<readonly string[]> {
  const tools = (await catalog.open()).list()
  const categories = await registry.stores.categories.all(caller.workspace)
  const unknown = findUnknown(toolset, tools, categories)
  const resolved = resolveToolset(toolset, categories)
  const contained = tools.filter(({ tool }) => isInToolset(resolved, tool))
  if (contained.length === 0) return [...unknown, 'The filter matches no tool, so the toolset is empty.']
  const outside = (toolset.pinned ?? []).filter(
    (name) => tools.some(({ tool }) => isNameOf(name, tool)) && !contained.some(({ tool }) => isNameOf(name, tool)),
  )
  return [...unknown, ...outside.map((name) => `The pinned tool '${toOneLine(name)}' is not in the toolset.`)]
}

const maxWarnings = 20

function findUnknown({ filter, pinned, policy }: Toolset, tools: readonly FoundEntry[], all: readonly Category[]) {
  const budget = new WorkBudget(suggestionSteps)
  const lower = (text: string) => text.toLowerCase()
  const check = (noun: string, words: readonly string[] | undefined, known: Iterable<string>, normal = lower) => {
    const values = new Set(known)
    const normals = new Set(Array.from(values, normal))
    return (words ?? [])
      .filter((word) => !normals.has(normal(word)))
      .map((word) => `There is no ${noun} '${toOneLine(word)}' now.${didYouMean(word, values, budget)}`)
  }
  const same = (text: string) => text
  const names = tools.flatMap(({ tool }) => [tool.name, toFullId(tool)])
  const categories = [...all.map(({ name }) => name), ...tools.flatMap(({ tool }) => tool.category ?? [])]
  const tags = tools.flatMap(({ tool }) => tool.tags)
  return [
    ...check(
      'namespace',
      filter.namespaces,
      tools.map(({ tool }) => tool.namespace ?? ''),
    ),
    ...check('tag', filter.tags, tags, (word) => normalizeTags([word])[0] ?? ''),
    ...check('category', filter.categories, [...categories, ...all.map(({ id }) => id)]),
    ...check('tool', [...new Set([...(filter.names ?? []), ...(pinned ?? [])])], names, same),
    ...check(
      'tool',
      Object.keys(policy?.tools ?? {}),
      tools.map(({ tool }) => tool.name),
      same,
    ),
  ].slice(0, maxWarnings)
}
