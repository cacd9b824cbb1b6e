import { isDeepStrictEqual } from 'node:util'
import type { Backend, CatalogTool } from '../contract/catalog.ts'
import { isSameBackend } from './backends.ts'
import { type CatalogEntry, createEntry, withBackend } from './with-backend.ts'

/** One planned change of the catalog; a tool without an entry is removed. */
export interface EntryChange {
  readonly type: 'registered' | 'updated' | 'backendRemoved' | 'toolRemoved'
  readonly id: string
  readonly entry: CatalogEntry | undefined
}

type Entries = ReadonlyMap<string, CatalogEntry>

/** The changes after which the tools of a backend are exactly these; unchanged tools are not among them. */
export function planSync(entries: Entries, backend: Backend, tools: ReadonlyMap<string, CatalogTool>): EntryChange[] {
  const gone = [...entries].filter(([id, entry]) => !tools.has(id) && has(entry, backend))
  const removals = gone.map(([id, entry]) => planRemoval(id, entry, backend))
  const additions = Array.from(tools, ([id, tool]) => planTool(id, entries.get(id), { tool, backend }))
  return [...removals, ...additions.filter((change) => change !== undefined)]
}

/** The change that removes a backend from a tool, and the tool with its last backend. */
export function planRemoval(id: string, { tool, backends }: CatalogEntry, backend: Backend): EntryChange {
  const left = backends.filter((other) => !isSameBackend(other, backend))
  if (left.length === 0) return { type: 'toolRemoved', id, entry: undefined }
  return { type: 'backendRemoved', id, entry: createEntry(tool, left) }
}

function planTool(
  id: string,
  before: CatalogEntry | undefined,
  { tool, backend }: { readonly tool: CatalogTool; readonly backend: Backend },
): EntryChange | undefined {
  if (before === undefined) return { type: 'registered', id, entry: createEntry(tool, [backend]) }
  const mine = has(before, backend)
  if (mine && isDeepStrictEqual(before.tool, tool)) return undefined
  // The only backend of a tool may redefine it; with several backends they must agree.
  const alone = mine && before.backends.length === 1
  return { type: 'updated', id, entry: withBackend(alone ? undefined : before, tool, backend) }
}

const has = (entry: CatalogEntry, backend: Backend) => entry.backends.some((other) => isSameBackend(other, backend))
