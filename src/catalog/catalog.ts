import { randomUUID } from 'node:crypto'
import { TooldexError } from '../base/errors.ts'
import { toOneLine } from '../base/visible-text.ts'
import { Backend, type CatalogTool, type CatalogToolInput, SearchFilters } from '../contract/catalog.ts'
import type { Ranker, ResultPage, SearchDoc } from '../contract/search.ts'
import { type Readiness, ready } from '../contract/tool-state.ts'
import { formatToolId, parseToolId } from '../rules/tool-id.ts'
import { isSameBackend, type SelectBackend, selectNearest } from './backends.ts'
import { type CatalogRunner, callEntry } from './call-entry.ts'
import { type ChangeListener, ChangeListeners } from './change-listeners.ts'
import { EntryTable } from './entry-table.ts'
import { parseTool, toolIdOf } from './parse-tool.ts'
import { type EntryChange, planRemoval, planSync } from './plan-sync.ts'
import { readInput } from './read-input.ts'
import {
  type CatalogPage,
  checkLimit,
  defaultLimit,
  findPage,
  type SearchPageQuery,
  type SearchScope,
  toResult,
} from './search-page.ts'
import { createSubstringRanker } from './substring-ranker.ts'
import { canonicalFilters } from './tool-filters.ts'
import { type CatalogEntry, withBackend } from './with-backend.ts'

/** The options of a catalog. */
export interface CatalogOptions {
  readonly selectBackend?: SelectBackend
  /** Ranks for `search` and `searchPage`; the default compares every tool. Call `refresh` when its ranking changes. */
  readonly ranker?: Ranker
  /** Whether a tool can be called now; evaluated for every result, and for every tool if a filter needs it. */
  readonly readinessOf?: (tool: CatalogTool, backend: Backend) => Readiness
  /** Cursors are valid in every catalog with the same tools; costs a hash of all tools after a change. */
  readonly sharedCursors?: boolean
  /** Receives errors thrown by listeners; ignored by default. */
  readonly onListenerError?: (error: unknown) => void
  /** Runs tools that were registered without a function of their own. */
  readonly run?: CatalogRunner
}

/** A tool and its backend. */
export interface Registration {
  readonly tool: CatalogToolInput
  readonly backend: Backend
}

/** All tools of all sources, live: registration, removal, search and change events. */
export class Catalog {
  readonly #table = new EntryTable()
  readonly #listeners: ChangeListeners
  readonly #scope: SearchScope
  readonly #cursorMark: string | undefined
  readonly #run: CatalogRunner | undefined
  readonly #functions = new Map<string, CatalogRunner>()
  #version = 0
  #refreshes = 0

  constructor(options: CatalogOptions = {}) {
    const { selectBackend = selectNearest, ranker, readinessOf, sharedCursors, onListenerError } = options
    this.#listeners = new ChangeListeners(onListenerError ?? (() => {}))
    this.#run = options.run
    this.#cursorMark = sharedCursors ? undefined : randomUUID().slice(0, 8)
    this.#scope = {
      ranker: ranker ?? createSubstringRanker(() => this.searchDocs()),
      entries: this.#table.entries,
      allActive: () => this.#table.allActive,
      backendOf: ({ backends }) => selectBackend(backends),
      readinessOf: readinessOf ?? (() => ready),
    }
  }

  get size(): number {
    return this.#table.entries.size
  }

  /** Incremented by every change. */
  get version(): number {
    return this.#version
  }

  /** Adds a tool, or a backend to a registered one, and returns its id; `run` is the function that calls of it run. */
  register(tool: CatalogToolInput, backend: Backend, run?: CatalogRunner): string {
    const owner = readBackend(backend)
    const [id = ''] = this.#apply([{ tool: parseTool(tool), backend: owner }])
    if (run !== undefined) this.#functions.set(functionKey(id, owner), run)
    return id
  }

  /**
   * Calls a tool by id, or by a name that only one tool has: with its own function, else with the option `run`. The arguments are
   * checked against its input schema and completed with defaults, the result against its output schema.
   */
  async call(
    id: string,
    args: Readonly<Record<string, unknown>> = {},
    options: CatalogCallOptions = {},
  ): Promise<unknown> {
    const found = this.get(id)
    if (found === null) throw new TooldexError('TOOL_NOT_FOUND', `tool not found: ${toOneLine(id)}`)
    const run = this.#functions.get(functionKey(toolIdOf(found.tool), found.backend)) ?? this.#run
    return callEntry({ ...found, args, signal: options.signal }, run)
  }

  /** Adds all of them, or none if one is rejected. */
  registerMany(registrations: readonly Registration[]): string[] {
    const parsed = registrations.map(({ tool, backend }, index) => ({
      tool: parseTool(tool, `invalid tool at index ${index}`),
      backend: readBackend(backend, `invalid backend at index ${index}`),
    }))
    return this.#apply(parsed)
  }

  /**
   * Makes the tools of a backend exactly these, in one step: readers and listeners see all of the old or all of the new,
   * and events report only differences. Checked tools are frozen, parsed before, and owned by the catalog.
   */
  sync(backend: Backend, tools: readonly CatalogToolInput[], { checked = false } = {}): void {
    const owner = readBackend(backend)
    const parsed = checked
      ? (tools as readonly CatalogTool[])
      : tools.map((tool, index) => parseTool(tool, `invalid tool at index ${index}`))
    this.#commit(planSync(this.#table.entries, owner, new Map(parsed.map((tool) => [toolIdOf(tool), tool]))), owner)
  }

  /** Removes a backend of a tool, and the tool with its last backend. */
  unregister(id: string, backend: Backend): void {
    const key = canonicalId(id)
    const entry = this.#table.require(key)
    const gone = readBackend(backend)
    const known = entry.backends.some((other) => isSameBackend(other, gone))
    if (!known) throw new TooldexError('TOOL_NOT_FOUND', 'backend not found')
    this.#commit([planRemoval(key, entry, gone)], gone)
  }

  /** A tool and its selected backend, by id or by a name that only one tool has. */
  get(id: string): { readonly tool: CatalogTool; readonly backend: Backend } | null {
    const entry = this.#table.entries.get(id) ?? this.#table.find(canonicalId(id))
    return entry === undefined ? null : { tool: entry.tool, backend: this.#scope.backendOf(entry) }
  }

  /** All tools by exact id, with all their backends; read-only. */
  get entries(): ReadonlyMap<string, Pick<CatalogEntry, 'tool' | 'backends'>> {
    return this.#table.entries
  }

  /** Whether the bare name is ambiguous because another tool has it too. */
  sharesName({ name }: Pick<CatalogTool, 'name'>): boolean {
    return this.#table.countOf(name) > 1
  }

  /** All backends of a tool, in order of registration. */
  backendsOf(id: string): readonly Backend[] {
    return [...this.#table.require(canonicalId(id)).backends]
  }

  /** The namespaces in use, sorted; '' stands for tools without one. */
  namespaces(): string[] {
    return [...new Set(Array.from(this.#table.entries.values(), ({ tool }) => tool.namespace ?? ''))].sort()
  }

  /** The search documents, sorted by id; read-only. */
  searchDocs(): readonly SearchDoc[] {
    return this.#table.docs()
  }

  /** One page of matching tools; cursors are valid for the same query and filters until the catalog changes. */
  searchPage(query: SearchPageQuery = {}): ResultPage {
    checkLimit(query.limit ?? defaultLimit)
    const { hits, cursorAfter } = this.search(query)
    const nextCursor = cursorAfter(hits.length)
    const results = hits.map((hit) => toResult(hit, this.#table.entries))
    return nextCursor === undefined ? { results } : { results, nextCursor }
  }

  /** The same page with the complete tools, and a cursor for any position in it. */
  search(options: SearchPageQuery = {}): CatalogPage {
    const { query = '', limit = defaultLimit, mode, minScore } = options
    const filters = canonicalFilters(readInput(SearchFilters, options.filters ?? {}, 'invalid filters'))
    const scope = () => ({ ...this.#cursorState(), question: [query, filters, mode, minScore] })
    return findPage(this.#scope, { ...options, query, limit, filters, scope })
  }

  /** Adds a listener for every change; the returned function removes it. */
  onChange(listener: ChangeListener): () => void {
    return this.#listeners.add(listener)
  }

  /** A short hash of its tools: equal in every process with the same tools. */
  get mark(): string {
    return this.#table.mark()
  }

  /** Computes the hash of one tool, which is kept; those of all tools at once would block other requests. */
  prepareMark(id: string): void {
    void this.#table.entries.get(id)?.mark
  }

  /** Marks everything that was read from the catalog as stale, and returns its new version. */
  refresh(): number {
    const version = ++this.#version
    this.#refreshes++
    this.#listeners.send([{ type: 'refreshed', version }])
    return version
  }

  /** Computes every entry before it changes the first, so that an error changes nothing. */
  #apply(registrations: readonly { tool: CatalogTool; backend: Backend }[]): string[] {
    const planned = new Map<string, CatalogEntry>()
    const changes = registrations.map(({ tool, backend }) => {
      const id = toolIdOf(tool)
      const before = planned.get(id) ?? this.#table.entries.get(id)
      planned.set(id, withBackend(before, tool, backend))
      return { type: before === undefined ? 'registered' : 'updated', id, backend } as const
    })
    for (const [id, entry] of planned) this.#table.set(id, entry)
    this.#listeners.send(changes.map((change) => ({ ...change, version: ++this.#version })))
    return changes.map(({ id }) => id)
  }

  #commit(changes: readonly EntryChange[], backend: Backend): void {
    for (const { id, entry } of changes) {
      const remains = entry?.backends.some((other) => isSameBackend(other, backend)) === true
      if (!remains) this.#functions.delete(functionKey(id, backend))
      if (entry === undefined) this.#table.delete(id)
      else this.#table.set(id, entry)
    }
    this.#listeners.send(changes.map(({ type, id }) => ({ type, version: ++this.#version, id, backend })))
  }

  #cursorState() {
    if (this.#cursorMark !== undefined) return { catalog: this.#cursorMark, version: this.#version }
    return { catalog: '', version: `${this.#table.mark()}${this.#refreshes || ''}` }
  }
}

/** Options of a call besides its arguments. */
export interface CatalogCallOptions {
  readonly signal?: AbortSignal
}

const functionKey = (id: string, backend: Backend) => JSON.stringify([id, ...Object.values(backend)])

const canonicalId = (id: string) => formatToolId(parseToolId(id))

const readBackend = (backend: Backend, what = 'invalid backend') => readInput(Backend, backend, what)
