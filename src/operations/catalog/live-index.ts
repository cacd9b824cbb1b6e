import { yieldTurns } from '../../base/yield-turns.ts'
import type { Catalog } from '../../catalog/index.ts'
import type { CatalogTool } from '../../contract/catalog.ts'
import type { SearchableTool, SearchMode } from '../../contract/search.ts'
import { type Embedder, type RemoteEmbedder, SearchEngine } from '../../search/index.ts'

/** The sources of vectors. */
export interface LiveIndexOptions {
  /** The encoder for semantic search, loaded with the first search. */
  readonly loadEmbedder?: (() => Embedder | undefined) | undefined
  /** An embeddings service that replaces the encoder. */
  readonly remote?: RemoteEmbedder | undefined
}

/** A search engine that follows a catalog: changes are collected and applied by the next search. */
export class LiveIndex {
  readonly #catalog: Catalog
  readonly #newEngine: () => SearchEngine
  #engine: SearchEngine
  readonly #remote: RemoteEmbedder | undefined
  readonly #indexed = new Map<string, CatalogTool>()
  #changed = new Set<string>()
  #seenVersion: number
  #unprepared = false

  constructor(catalog: Catalog, { loadEmbedder, remote }: LiveIndexOptions) {
    this.#catalog = catalog
    this.#remote = remote
    const load = remote === undefined ? loadEmbedder : () => (remote.dim === 0 ? undefined : remote)
    this.#newEngine = () => new SearchEngine(load)
    this.#engine = this.#newEngine()
    this.#changed = new Set(catalog.entries.keys())
    this.#seenVersion = catalog.version
    catalog.onChange((event) => {
      this.#seenVersion = event.version
      if (event.type !== 'refreshed') this.#changed.add(event.id)
    })
  }

  /** The engine, with exactly the tools of the catalog. */
  engine(): SearchEngine {
    for (const id of this.#toCheck()) this.#follow(id)
    this.#changed.clear()
    return this.#engine
  }

  /** Prepares semantic ranking of a query; if a service does not respond, the query is ranked by words only. */
  async prepareMeaning(query: string, signal?: AbortSignal): Promise<boolean> {
    if (this.#remote === undefined) return true
    const tools = Array.from(this.#catalog.entries, ([id, { tool }]) => toSearchable(id, tool))
    const ready = await this.#remote.prepare(query, tools, signal)
    // Tools that were added while the service was unavailable have no vector yet.
    if (ready && this.#unprepared) this.#engine.forgetMeaning()
    this.#unprepared = !ready
    return ready
  }

  /** Reads what a search of a mode needs, in turns with other requests; what changes meanwhile is left to the search. */
  async readInTurns(mode: SearchMode, signal?: AbortSignal): Promise<void> {
    await this.followInTurns(signal)
    const turn = yieldTurns(signal)
    for (let steps = 2 * this.#catalog.size; steps > 0 && this.#engine.read(mode); steps--) await turn()
  }

  /** Applies many changes in turns with other requests; changes made meanwhile are left to the search. */
  async followInTurns(signal?: AbortSignal): Promise<void> {
    const rest = yieldTurns(signal)
    if (this.#engine.wear > 0.5) this.#startOver()
    for (const id of [...this.#changed]) {
      this.#follow(id)
      this.#catalog.prepareMark(id)
      await rest()
    }
  }

  /** A new engine, to which all tools are added one by one. */
  #startOver(): void {
    this.#engine = this.#newEngine()
    this.#indexed.clear()
    for (const id of this.#catalog.entries.keys()) this.#changed.add(id)
  }

  /** A search during event delivery must include every change, so all tools are compared. */
  #toCheck(): Iterable<string> {
    if (this.#seenVersion === this.#catalog.version) return this.#changed
    return new Set([...this.#indexed.keys(), ...this.#catalog.entries.keys()])
  }

  #follow(id: string): void {
    const tool = this.#catalog.entries.get(id)?.tool
    if (tool === this.#indexed.get(id)) return
    if (tool === undefined) {
      this.#engine.remove(id)
      this.#indexed.delete(id)
    } else {
      this.#engine.add(toSearchable(id, tool))
      this.#indexed.set(id, tool)
    }
  }
}

function toSearchable(id: string, tool: CatalogTool): SearchableTool {
  const { name, namespace, description, category, tags, inputSchema, exampleRequests } = tool
  return { id, name, namespace, description, category, tags, inputSchema, exampleRequests }
}
