import { omitUndefined } from '../base/json-values.ts'
import type { Backend, CatalogTool, Readiness, SearchFilters, ToolSource, ToolStatus } from '../contract/catalog.ts'
import type { ExecutorKindName } from '../contract/executor-kinds.ts'
import { normalizeTags } from '../rules/normalize-tags.ts'
import type { CatalogEntry, Origin } from './catalog-entry.ts'

/** Properties of a tool that filters need besides its own fields; computed only if a filter uses them. */
export interface EntryFacts {
  readonly originOf: (entry: CatalogEntry) => Origin
  readonly sourceOf: (entry: CatalogEntry) => ToolSource
  readonly executorOf: (entry: CatalogEntry) => ExecutorKindName | undefined
  readonly readinessOf: (entry: CatalogEntry) => Readiness
}

const sources = { local: 'code', provider: 'registry', mcp: 'mcp' } as const

/** The source of a tool. */
export const sourceOf = (tool: CatalogTool, backend: Backend): ToolSource => tool.source ?? sources[backend.kind]

const executors = { local: 'code', provider: undefined, mcp: 'mcp' } as const

/** The kind of executor that runs a tool; undefined for a tool of a provider that states none. */
export const executorOf = ({ runnable, backend }: Origin): ExecutorKindName | undefined =>
  runnable?.executorType ?? executors[backend.kind]

/** The life cycle state of a tool. */
export const toolStatusOf = (tool: CatalogTool): ToolStatus => tool.status ?? 'ACTIVE'

/** Filters of which only those that exclude tools are present. */
export type CanonicalFilters = {
  readonly [Key in keyof SearchFilters]: NonNullable<SearchFilters[Key]> | undefined
}

/** Filters in canonical form: equivalent filters are equal. */
export function canonicalFilters(filters: SearchFilters): CanonicalFilters {
  const tags = filters.tags ?? []
  return omitUndefined({
    namespace: filters.namespace?.toLowerCase(),
    cli: filters.cli?.toLowerCase(),
    category: wordsOf([filters.category ?? []].flat().map((name) => name.toLowerCase())),
    // Tags that normalize to nothing still filter, and match no tool.
    tags: tags.length === 0 ? undefined : normalizeTags(tags).sort(),
    tagsMatch: tags.length === 0 || filters.tagsMatch !== 'all' ? undefined : filters.tagsMatch,
    source: wordsOf(filters.source),
    executor: wordsOf(filters.executor),
    status: wordsOf(filters.status ?? ['ACTIVE']),
    readiness: wordsOf(filters.readiness),
  })
}

const wordsOf = <Word extends string>(words: readonly Word[] | null | undefined): Word[] | undefined =>
  words == null || words.length === 0 ? undefined : [...new Set(words)].sort()

/** Whether a tool passes canonical filters. */
export function passesFilters(entry: CatalogEntry, filters: CanonicalFilters, facts: EntryFacts): boolean {
  const { sourceOf, executorOf, readinessOf } = facts
  const { tool } = entry
  const { namespace, cli, category, source, executor, status, readiness } = filters
  const own = () => (tool.namespace ?? '').toLowerCase()
  return (
    (status === undefined || status.includes(toolStatusOf(tool))) &&
    (namespace === undefined || own() === namespace) &&
    (cli === undefined || (own() === cli && sourceOf(entry) === 'cli')) &&
    (category === undefined || isOneOf(tool.category, category)) &&
    passesTags(tool.tags, filters) &&
    (source === undefined || source.includes(sourceOf(entry))) &&
    (executor === undefined || executor.some((kind) => kind === executorOf(entry))) &&
    (readiness === undefined || readiness.includes(readinessOf(entry).state))
  )
}

const isOneOf = (own: string | undefined, categories: string | readonly string[]): boolean =>
  own !== undefined && [categories].flat().includes(own.toLowerCase())

function passesTags(own: readonly string[], { tags, tagsMatch }: CanonicalFilters): boolean {
  if (tags === undefined) return true
  const has = (tag: string) => own.includes(tag)
  return tagsMatch === 'all' ? tags.length > 0 && tags.every(has) : tags.some(has)
}
