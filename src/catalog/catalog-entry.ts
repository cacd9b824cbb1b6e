import { isDeepStrictEqual } from 'node:util'
import { TooldexError } from '../base/errors.ts'
import type { Backend, CatalogTool } from '../contract/catalog.ts'
import type { RunnableTool } from '../contract/executor.ts'
import type { SearchDoc } from '../contract/search.ts'
import type { CatalogRunner } from './call-entry.ts'
import { hashOf } from './page-cursor.ts'
import { toolIdOf } from './parse-tool.ts'
import { toSearchDoc } from './search-doc.ts'

/** One origin of a tool: its backend, and what runs its calls. */
export interface Origin {
  readonly backend: Backend
  /** The function that a program registered for its calls. */
  readonly run?: CatalogRunner | undefined
  /** The form for executors, of a tool of a config or the registry. */
  readonly runnable?: RunnableTool | undefined
}

/** Values computed from a tool on first read, because a starting server needs none of them. */
class DerivedValues {
  readonly #tool: CatalogTool
  #doc: SearchDoc | undefined
  #mark: string | undefined

  constructor(tool: CatalogTool) {
    this.#tool = tool
  }

  get doc(): SearchDoc {
    this.#doc ??= toSearchDoc(this.#tool)
    return this.#doc
  }

  /** Equal for equal tools, in every process. */
  get mark(): string {
    this.#mark ??= hashOf(this.#tool)
    return this.#mark
  }
}

/** A tool of the catalog with all its origins; replaced as a whole, never mutated. */
export interface CatalogEntry {
  readonly tool: CatalogTool
  readonly origins: readonly Origin[]
  readonly derived: DerivedValues
}

/** A tool with its id and its selected origin. */
export interface FoundEntry extends Origin {
  readonly id: string
  readonly tool: CatalogTool
}

const mcpFields = [
  'name',
  'title',
  'description',
  'inputSchema',
  'outputSchema',
  'annotations',
  'icons',
  '_meta',
] as const

export const createEntry = (
  tool: CatalogTool,
  origins: readonly Origin[],
  derived: DerivedValues = new DerivedValues(tool),
): CatalogEntry => ({ tool, origins, derived })

/** The origin of an entry at a backend. */
export const originAt = ({ origins }: CatalogEntry, backend: Backend): Origin | undefined =>
  origins.find((origin) => isSameBackend(origin.backend, backend))

/** The origin whose backend is selected. */
export function selectOrigin({ origins }: CatalogEntry, select: SelectBackend = selectNearest): Origin {
  const selected = origins.length === 1 ? undefined : select(origins.map(({ backend }) => backend))
  const origin = selected && origins.find(({ backend }) => isSameBackend(backend, selected))
  return origin ?? (origins[0] as Origin)
}

/** The entry after a registration; one with a different definition of the tool is rejected. */
export function withOrigin(before: CatalogEntry | undefined, tool: CatalogTool, origin: Origin): CatalogEntry {
  if (before === undefined) return createEntry(tool, [origin])
  const different = mcpFields.filter((field) => !isDeepStrictEqual(before.tool[field], tool[field]))
  if (different.length > 0) throw differs(tool, different)
  return createEntry(tool, addOrigin(before, origin))
}

/** The origins of an entry with one added or replaced; a registered function stays until its origin is removed. */
export function addOrigin({ origins }: CatalogEntry, origin: Origin): readonly Origin[] {
  const known = origins.find(({ backend }) => isSameBackend(backend, origin.backend))
  if (known === undefined) return [...origins, origin]
  const next = { ...origin, run: origin.run ?? known.run }
  return origins.map((each) => (each === known ? next : each))
}

function differs(tool: CatalogTool, fields: readonly string[]): TooldexError {
  return new TooldexError('INPUT_INVALID', `tool "${toolIdOf(tool)}" differs from its registration`, {
    problems: fields.map((field) => ({ severity: 'error', message: `${field} is different`, pointer: `/${field}` })),
    hint: 'Unregister it first, or give it another version or namespace.',
  })
}

/** Selects the backend that runs a tool, from at least one, in order of registration. */
export type SelectBackend = (backends: readonly Backend[]) => Backend

const order = ['local', 'provider', 'mcp'] as const

/** The nearest backend: local, then provider, then mcp; the first of its kind. */
export const selectNearest: SelectBackend = (backends) => {
  const nearest = order.flatMap((kind) => backends.filter((backend) => backend.kind === kind))
  return nearest[0] as Backend
}

/** Whether two backends are the same one. */
export function isSameBackend(a: Backend, b: Backend): boolean {
  if (a.kind === 'local') return b.kind === 'local' && a.name === b.name
  if (a.kind === 'mcp') return b.kind === 'mcp' && a.serverName === b.serverName
  return b.kind === 'provider' && a.providerId === b.providerId && a.toolId === b.toolId
}
