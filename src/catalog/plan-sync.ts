import { isDeepStrictEqual } from 'node:util'
import type { Backend, CatalogEvent, CatalogTool } from '../contract/catalog.ts'
import type { RunnableTool } from '../contract/executor.ts'
import {
  addOrigin,
  type CatalogEntry,
  createEntry,
  isSameBackend,
  type Origin,
  originAt,
  withOrigin,
} from './catalog-entry.ts'

/** One planned change of the catalog; a tool without an entry is removed. */
export interface EntryChange {
  /** Undefined where only the way in which calls run has changed, of which no event is sent. */
  readonly type: 'registered' | 'updated' | 'backendRemoved' | 'toolRemoved' | undefined
  readonly id: string
  readonly backend: Backend
  readonly entry: CatalogEntry | undefined
}

/** A tool of a backend, and its form for executors. */
export interface SyncedTool {
  readonly tool: CatalogTool
  readonly runnable?: RunnableTool | undefined
}

type Entries = ReadonlyMap<string, CatalogEntry>

/** The changes after which the tools of a backend are exactly these; unchanged tools are not among them. */
export function planSync(entries: Entries, backend: Backend, tools: ReadonlyMap<string, SyncedTool>): EntryChange[] {
  const changes: EntryChange[] = []
  for (const [id, entry] of entries)
    if (!tools.has(id) && originAt(entry, backend) !== undefined) changes.push(planRemoval(id, entry, backend))
  for (const [id, { tool, runnable }] of tools) {
    const change = planTool(id, entries.get(id), { tool, origin: { backend, runnable } })
    if (change !== undefined) changes.push(change)
  }
  return changes
}

/** The events of changes, numbered from a version on. */
export function toCatalogEvents(changes: readonly EntryChange[], version: number): CatalogEvent[] {
  const events: CatalogEvent[] = []
  for (const { type, id, backend } of changes)
    if (type !== undefined) events.push({ type, id, backend, version: version + events.length + 1 })
  return events
}

/** The change that removes a backend from a tool, and the tool with its last backend. */
export function planRemoval(id: string, { tool, origins, derived }: CatalogEntry, backend: Backend): EntryChange {
  const left = origins.filter((origin) => !isSameBackend(origin.backend, backend))
  if (left.length === 0) return { type: 'toolRemoved', id, backend, entry: undefined }
  return { type: 'backendRemoved', id, backend, entry: createEntry(tool, left, derived) }
}

function planTool(
  id: string,
  before: CatalogEntry | undefined,
  { tool, origin }: { readonly tool: CatalogTool; readonly origin: Origin },
): EntryChange | undefined {
  const { backend } = origin
  if (before === undefined) return { type: 'registered', id, backend, entry: createEntry(tool, [origin]) }
  const mine = originAt(before, backend)
  if (mine !== undefined && isDeepStrictEqual(before.tool, tool)) {
    if (mine.runnable === origin.runnable) return undefined
    return { type: undefined, id, backend, entry: createEntry(before.tool, addOrigin(before, origin), before.derived) }
  }
  // The only backend of a tool may redefine it; with several backends they must agree.
  const alone = mine !== undefined && before.origins.length === 1
  const entry = alone ? createEntry(tool, addOrigin(before, origin)) : withOrigin(before, tool, origin)
  return { type: 'updated', id, backend, entry }
}
