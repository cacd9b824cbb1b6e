import { randomUUID } from 'node:crypto'
import { TooldexError } from '../base/errors.ts'
import { toOneLine } from '../base/invisible-characters.ts'
import { yieldTurns } from '../base/yield-turns.ts'
import { Backend, type CatalogTool, type CatalogToolInput, SearchFilters } from '../contract/catalog.ts'
import type { RankedPage, Ranker, RankQuery, ResultPage, SearchDoc } from '../contract/search.ts'
import { formatToolId, parseToolId } from '../rules/tool-id.ts'
import { type CatalogCall, type CatalogRunner, callEntry } from './call-entry.ts'
import { type CatalogEntry, type FoundEntry, type Origin, originAt, selectOrigin, withOrigin } from './catalog-entry.ts'
import type { CatalogCallOptions, CatalogOptions, Registration } from './catalog-options.ts'
import { type ChangeListener, ChangeListeners } from './change-listeners.ts'
import { NameIndex } from './name-index.ts'
import { hashOf, readPageStart } from './page-cursor.ts'
import { parseTool, readInput, toolIdOf } from './parse-tool.ts'
import { type EntryChange, planRemoval, planSync, type SyncedTool, toCatalogEvents } from './plan-sync.ts'
import { toSearchableTool } from './search-doc.ts'
import {
  browsePage,
  type CatalogPage,
  checkPageLimit,
  defaultLimit,
  entryFactsFor,
  isCallableFor,
  pageFilter,
  type SearchPageQuery,
  toPageHit,
  toPageResult,
  toSearchPage,
} from './search-page.ts'
import { createSubstringRanker } from './substring-ranker.ts'
import { canonicalFilters, toolStatusOf } from './tool-filters.ts'

/** All tools of all sources, live: registration, removal, search and change events. */
export class Catalog {
  readonly #entries = new Map<string, CatalogEntry>()
  readonly #names = new NameIndex()
  readonly #inactive = new Set<string>()
  readonly #options: CatalogOptions
  readonly #listeners: ChangeListeners
  readonly #cursorMark: string | undefined
  #ranker: Ranker
  /** The changed tools that the ranker receives before the next search. */
  #unranked = new Set<string>()
  /** Computed from all entries on first read, until a change. */
  #computed: { docs?: readonly SearchDoc[]; mark?: string; list?: readonly FoundEntry[] } = {}
  #version = 0
  #refreshes = 0

  constructor(options: CatalogOptions = {}) {
    this.#options = options
    this.#listeners = new ChangeListeners(options.onListenerError ?? (() => {}))
    this.#cursorMark = options.sharedCursors ? undefined : randomUUID().slice(0, 8)
    this.#ranker = options.ranker ?? createSubstringRanker(() => this.searchDocs())
  }

  get size(): number {
    return this.#entries.size
  }

  /** Incremented by every change. */
  get version(): number {
    return this.#version
  }

  /** Adds a tool, or a backend to a registered one, and returns its id; `run` is the function that calls of it run. */
  register(tool: CatalogToolInput, backend: Backend, run?: CatalogRunner): string {
    const [id = ''] = this.#add([{ tool: parseTool(tool), origin: { backend: readBackend(backend), run } }])
    return id
  }

  /**
   * Calls a tool by id, or by a name that only one tool has: with its own function, else with the option `run`. The arguments are
   * checked against its input schema and completed with defaults, the result against its output schema.
   */
  async call(id: string, args: CatalogCall['args'] = {}, options: CatalogCallOptions = {}): Promise<unknown> {
    const { tool, backend, run } = this.#findAny(id) ?? unknown(id)
    return callEntry({ tool, backend, args, signal: options.signal }, run ?? this.#options.run)
  }

  /** Adds all of them, or none if one is rejected. */
  registerMany(registrations: readonly Registration[]): string[] {
    const parsed = registrations.map(({ tool, backend }, index) => ({
      tool: parseTool(tool, `invalid tool at index ${index}`),
      origin: { backend: readBackend(backend, `invalid backend at index ${index}`) },
    }))
    return this.#add(parsed)
  }

  /**
   * Makes the tools of a backend exactly these, in one step: readers and listeners see all of the old or all of the new,
   * and events report only differences.
   */
  sync(backend: Backend, tools: readonly CatalogToolInput[]): void {
    const parsed = tools.map((tool, index) => ({ tool: parseTool(tool, `invalid tool at index ${index}`) }))
    this.syncParsed(readBackend(backend), parsed)
  }

  /** The same with tools that are parsed, frozen and owned by the catalog, and their forms for executors. */
  syncParsed(backend: Backend, tools: readonly SyncedTool[]): void {
    const byId = new Map(tools.map((synced) => [toolIdOf(synced.tool), synced]))
    this.#commit(planSync(this.#entries, backend, byId))
  }

  /** Removes a backend of a tool, and the tool with its last backend. */
  unregister(id: string, backend: Backend): void {
    const key = canonicalId(id)
    const entry = this.#entries.get(key) ?? unknown(key)
    const gone = readBackend(backend)
    if (originAt(entry, gone) === undefined) throw new TooldexError('TOOL_NOT_FOUND', 'backend not found')
    this.#commit([planRemoval(key, entry, gone)])
  }

  /** A tool and its selected backend, by id or by a name that only one tool has. */
  get(id: string): { readonly tool: CatalogTool; readonly backend: Backend } | null {
    const found = this.#findAny(id)
    return found === undefined ? null : { tool: found.tool, backend: found.backend }
  }

  /**
   * The accepted tool with exactly this id, or else the only one with this name, or else with this name in clients; a name of
   * several tools is rejected with their ids.
   */
  find(idOrName: string, accept: (entry: CatalogEntry) => boolean = () => true): FoundEntry | undefined {
    const id = this.#names.find(idOrName, (candidate) => {
      const entry = this.#entries.get(candidate)
      return entry !== undefined && accept(entry)
    })
    return id === undefined ? undefined : this.#toFound(id, this.#entries.get(id) as CatalogEntry)
  }

  /** All tools by exact id; read-only. */
  get entries(): ReadonlyMap<string, CatalogEntry> {
    return this.#entries
  }

  /** All tools in their order, each with its selected origin; read-only. */
  list(): readonly FoundEntry[] {
    const { order = (id, other) => (id < other ? -1 : 1) } = this.#options
    const found = () => Array.from(this.#entries, ([id, entry]) => this.#toFound(id, entry))
    this.#computed.list ??= found().sort((a, b) => order(a.id, b.id))
    return this.#computed.list
  }

  /** Whether the bare name is ambiguous because another tool has it too. */
  sharesName({ name }: Pick<CatalogTool, 'name'>): boolean {
    return this.#names.countOf(name) > 1
  }

  /** All backends of a tool, in order of registration. */
  backendsOf(id: string): readonly Backend[] {
    const { origins } = this.#entries.get(canonicalId(id)) ?? unknown(id)
    return origins.map(({ backend }) => backend)
  }

  /** The namespaces in use, sorted; '' stands for tools without one. */
  namespaces(): string[] {
    return [...new Set(Array.from(this.#entries.values(), ({ tool }) => tool.namespace ?? ''))].sort()
  }

  /** The search documents, sorted by id; read-only. */
  searchDocs(): readonly SearchDoc[] {
    const docs = () => Array.from(this.#entries.values(), ({ derived }) => derived.doc)
    this.#computed.docs ??= Object.freeze(docs().sort((a, b) => (a.id < b.id ? -1 : 1)))
    return this.#computed.docs
  }

  /** One page of matching tools; cursors are valid for the same query and filters until the catalog changes. */
  searchPage(query: SearchPageQuery = {}): ResultPage {
    checkPageLimit(query.limit ?? defaultLimit)
    const { hits, cursorAfter } = this.search(query)
    const nextCursor = cursorAfter(hits.length)
    const results = hits.map((hit) => toPageResult(hit, this.#entries.get(hit.id) as CatalogEntry))
    return nextCursor === undefined ? { results } : { results, nextCursor }
  }

  /** The same page with the complete tools, and a cursor for any position in it. */
  search(options: SearchPageQuery = {}): CatalogPage {
    const { query = '', limit = defaultLimit, mode, minScore, learned, view, onMatch } = options
    const filters = canonicalFilters(readInput(SearchFilters, options.filters ?? {}, 'invalid filters'))
    const scope = () => ({ ...this.#cursorState(), question: [query, filters, mode, minScore] })
    const [offset, facts] = [readPageStart(options, scope), entryFactsFor(this.#options, view)]
    const accept = pageFilter(this.#entries, filters, { facts, view, allActive: this.#inactive.size === 0, onMatch })
    const isCallable = isCallableFor(this.#entries, facts)
    const ranked = this.#rank({ query, offset, limit, accept, mode, minScore, learned, isCallable })
    const hits = ranked.hits.flatMap((hit) => toPageHit(hit, this.#entries.get(hit.tool.id), facts))
    return toSearchPage(hits, { ...ranked, offset, limit }, scope)
  }

  /** Replaces the ranker; one with `add` and `remove` receives every tool before the next search, and later every change. */
  rankWith(ranker: Ranker): void {
    this.#ranker = ranker
    this.#unranked = new Set(this.#entries.keys())
  }

  /** Passes changes to the ranker, and hashes changed tools, in turns with other requests. */
  async rankInTurns(signal?: AbortSignal): Promise<void> {
    const rest = yieldTurns(signal)
    for (const id of [...this.#unranked]) {
      this.#passToRanker(id)
      void this.#entries.get(id)?.derived.mark
      await rest()
    }
  }

  /** Passes all changes to the ranker. */
  rankChanges(): void {
    for (const id of this.#unranked) this.#passToRanker(id)
  }

  /** Adds a listener for every change; the returned function removes it. */
  onChange(listener: ChangeListener): () => void {
    return this.#listeners.add(listener)
  }

  /** A short hash of its tools: equal in every process with the same tools. */
  get mark(): string {
    this.#computed.mark ??= hashOf(Array.from(this.#entries, ([id, { derived }]) => `${id} ${derived.mark}`).sort())
    return this.#computed.mark
  }

  /** Marks everything that was read from the catalog as stale, and returns its new version. */
  refresh(): number {
    const version = ++this.#version
    this.#refreshes++
    this.#computed = {}
    this.#listeners.send([{ type: 'refreshed', version }])
    return version
  }

  /** Computes every entry before it changes the first, so that an error changes nothing. */
  #add(registrations: readonly { readonly tool: CatalogTool; readonly origin: Origin }[]): string[] {
    const planned = new Map<string, CatalogEntry>()
    const changes = registrations.map(({ tool, origin }) => {
      const id = toolIdOf(tool)
      const before = planned.get(id) ?? this.#entries.get(id)
      const entry = withOrigin(before, tool, origin)
      planned.set(id, entry)
      return { type: before === undefined ? 'registered' : 'updated', id, entry, backend: origin.backend } as const
    })
    this.#commit(changes)
    return changes.map(({ id }) => id)
  }

  #commit(changes: readonly EntryChange[]): void {
    for (const { id, entry } of changes) this.#set(id, entry)
    this.#computed = {}
    const events = toCatalogEvents(changes, this.#version)
    this.#version += events.length
    this.#listeners.send(events)
  }

  #set(id: string, entry: CatalogEntry | undefined): void {
    const before = this.#entries.get(id)
    if (before?.tool !== entry?.tool) this.#unranked.add(id)
    if (before?.tool.name !== entry?.tool.name) {
      if (before !== undefined) this.#names.delete(before.tool.name, id)
      if (entry !== undefined) this.#names.add(entry.tool.name, id)
    }
    if (entry === undefined) this.#entries.delete(id)
    else this.#entries.set(id, entry)
    if (entry === undefined || toolStatusOf(entry.tool) === 'ACTIVE') this.#inactive.delete(id)
    else this.#inactive.add(id)
  }

  #rank(query: RankQuery): RankedPage {
    if (this.#options.order !== undefined && query.query.trim() === '') return browsePage(this.list(), query)
    this.rankChanges()
    return this.#ranker.search(query)
  }

  #passToRanker(id: string): void {
    const tool = this.#entries.get(id)?.tool
    if (tool === undefined) this.#ranker.remove?.(id)
    else this.#ranker.add?.(toSearchableTool(id, tool))
    this.#unranked.delete(id)
  }

  /** A tool by its id in any spelling, or by name. */
  #findAny(id: string): FoundEntry | undefined {
    return this.find(id) ?? this.find(canonicalId(id))
  }

  #toFound(id: string, entry: CatalogEntry): FoundEntry {
    return { id, tool: entry.tool, ...selectOrigin(entry, this.#options.selectBackend) }
  }

  #cursorState() {
    if (this.#cursorMark !== undefined) return { catalog: this.#cursorMark, version: this.#version }
    return { catalog: '', version: `${this.mark}${this.#refreshes || ''}` }
  }
}

const canonicalId = (id: string) => formatToolId(parseToolId(id))

const readBackend = (backend: Backend, what = 'invalid backend') => readInput(Backend, backend, what)

function unknown(id: string): never {
  throw new TooldexError('TOOL_NOT_FOUND', `tool not found: ${toOneLine(id)}`)
}
