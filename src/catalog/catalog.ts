import { randomUUID } from 'node:crypto'
import { TooldexError } from '../base/errors.ts'
import { Backend, type CatalogTool, type CatalogToolInput, SearchFilters } from '../contract/catalog.ts'
import type { ResultPage, SearchDoc } from '../contract/summary.ts'
import { formatToolId, parseToolId } from '../contract/tool-id.ts'
import { isSameBackend, type SelectBackend, selectNearest } from './backends.ts'
import { type ChangeListener, ChangeListeners } from './change-listeners.ts'
import { EntryTable } from './entry-table.ts'
import { type Entry, mergeEntry } from './merge-entry.ts'
import { parseTool, toolIdOf } from './parse-tool.ts'
import { rankSubstring } from './rank-substring.ts'
import { readInput } from './read-input.ts'
import {
  canonicalFilters,
  checkLimit,
  defaultLimit,
  type RankTools,
  type SearchPageQuery,
  takePage,
} from './search-page.ts'

/** How a catalogue chooses, ranks and complains. */
export interface CatalogOptions {
  readonly selectBackend?: SelectBackend
  /** Ranks for `searchPage`; the default looks at every tool. Call `refresh` when it would rank anew. */
  readonly search?: RankTools
  /** Hears what a listener threw; nobody does by default. */
  readonly onListenerError?: (error: unknown) => void
}

/** A tool and who runs it. */
export interface Registration {
  readonly tool: CatalogToolInput
  readonly backend: Backend
}

/** All tools of all sources, live: registered, removed, found and listened to. */
export class Catalog {
  readonly #table = new EntryTable()
  readonly #listeners: ChangeListeners
  readonly #selectBackend: SelectBackend
  readonly #search: RankTools
  readonly #cursorMark = randomUUID().slice(0, 8)
  #version = 0

  constructor({ selectBackend, search, onListenerError }: CatalogOptions = {}) {
    this.#selectBackend = selectBackend ?? selectNearest
    this.#search = search ?? ((query) => rankSubstring(query, this.searchDocs()))
    this.#listeners = new ChangeListeners(onListenerError ?? (() => {}))
  }

  get size(): number {
    return this.#table.entries.size
  }

  /** Grows with every change. */
  get version(): number {
    return this.#version
  }

  /** Adds a tool, or a backend to one that is known, and returns its id. */
  register(tool: CatalogToolInput, backend: Backend): string {
    return this.#apply([{ tool: parseTool(tool), backend: readBackend(backend) }])[0] as string
  }

  /** Adds all of them, or none where one is refused. */
  registerMany(registrations: readonly Registration[]): string[] {
    const parsed = registrations.map(({ tool, backend }, index) => ({
      tool: parseTool(tool, `invalid tool at index ${index}`),
      backend: readBackend(backend, `invalid backend at index ${index}`),
    }))
    return this.#apply(parsed)
  }

  /** Removes a backend of a tool, and with the last one the tool. */
  unregister(id: string, backend: Backend): void {
    const key = canonicalId(id)
    const entry = this.#table.require(key)
    const gone = readBackend(backend)
    const backends = entry.backends.filter((other) => !isSameBackend(other, gone))
    if (backends.length === entry.backends.length) throw new TooldexError('TOOL_NOT_FOUND', 'backend not found')
    if (backends.length > 0) this.#table.set(key, { ...entry, backends })
    else this.#table.delete(key)
    const type = backends.length > 0 ? 'backendRemoved' : 'toolRemoved'
    this.#listeners.tell([{ type, version: ++this.#version, id: key, backend: gone }])
  }

  /** A tool and the backend that runs it, by id or by a name that only one tool has. */
  get(id: string): { readonly tool: CatalogTool; readonly backend: Backend } | null {
    const entry = this.#table.entries.get(id) ?? this.#table.find(canonicalId(id))
    return entry === undefined ? null : { tool: entry.tool, backend: this.#selectBackend(entry.backends) }
  }

  /** Everyone who can run a tool, in order of registration. */
  backendsOf(id: string): readonly Backend[] {
    return [...this.#table.require(canonicalId(id)).backends]
  }

  /** The namespaces in use, sorted; '' stands for the tools without one. */
  namespaces(): string[] {
    return [...new Set(Array.from(this.#table.entries.values(), ({ tool }) => tool.namespace ?? ''))].sort()
  }

  /** What search reads, sorted by id; to be read only. */
  searchDocs(): readonly SearchDoc[] {
    return this.#table.docs()
  }

  /** One page of what fits; cursors hold for the same query and filters until the catalogue changes. */
  searchPage({ query = '', limit = defaultLimit, cursor, filters: asked = {} }: SearchPageQuery = {}): ResultPage {
    checkLimit(limit)
    const filters = canonicalFilters(readInput(SearchFilters, asked, 'invalid filters'))
    const scope = { catalogue: this.#cursorMark, version: this.#version, question: [query, filters] }
    const rank = () => this.#search(query, filters)
    return takePage({ rank, entries: this.#table.entries, filters, limit, cursor, scope })
  }

  /** Hears of every change after it was made; the function returned ends that. */
  onChange(listener: ChangeListener): () => void {
    return this.#listeners.add(listener)
  }

  /** Says that what was read of the catalogue is stale, and returns its new version. */
  refresh(): number {
    const version = ++this.#version
    this.#listeners.tell([{ type: 'refreshed', version }])
    return version
  }

  /** Works out every entry before it changes the first, so that a refusal changes nothing. */
  #apply(registrations: readonly { tool: CatalogTool; backend: Backend }[]): string[] {
    const planned = new Map<string, Entry>()
    const changes = registrations.map(({ tool, backend }) => {
      const id = toolIdOf(tool)
      const before = planned.get(id) ?? this.#table.entries.get(id)
      planned.set(id, mergeEntry(before, tool, backend))
      return { type: before === undefined ? 'registered' : 'updated', id, backend } as const
    })
    for (const [id, entry] of planned) this.#table.set(id, entry)
    this.#listeners.tell(changes.map((change) => ({ ...change, version: ++this.#version })))
    return changes.map(({ id }) => id)
  }
}

const canonicalId = (id: string) => formatToolId(parseToolId(id))

const readBackend = (backend: Backend, what = 'invalid backend') => readInput(Backend, backend, what)
