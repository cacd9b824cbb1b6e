import { yieldTurns } from '../../base/yield-turns.ts'
import type { Catalog } from '../../catalog/index.ts'
import type { CatalogTool } from '../../contract/catalog.ts'
import type { SearchableTool } from '../../contract/search.ts'
import { type Embedder, type RemoteEmbedder, SearchEngine } from '../../search/index.ts'

/** Where the vectors come from. */
export interface LiveIndexOptions {
  /** For search by meaning; loaded with the first search. */
  readonly loadEmbedder?: (() => Embedder | undefined) | undefined
  /** A service that gives the vectors instead. */
  readonly remote?: RemoteEmbedder | undefined
}

/** A search engine that follows a catalog: it notes each change, and takes it over with the next search. */
export class LiveIndex {
  readonly #catalog: Catalog
  readonly #engine: SearchEngine
  readonly #remote: RemoteEmbedder | undefined
  readonly #indexed = new Map<string, CatalogTool>()
  #changed = new Set<string>()
  #heard: number
  #unprepared = false

  constructor(catalog: Catalog, { loadEmbedder, remote }: LiveIndexOptions) {
    this.#catalog = catalog
    this.#remote = remote
    this.#engine = new SearchEngine(remote === undefined ? loadEmbedder : () => (remote.dim === 0 ? undefined : remote))
    this.#changed = new Set(catalog.entries.keys())
    this.#heard = catalog.version
    catalog.onChange((event) => {
      this.#heard = event.version
      if (event.type !== 'refreshed') this.#changed.add(event.id)
    })
  }

  /** The engine, holding exactly the tools of the catalog. */
  engine(): SearchEngine {
    for (const id of this.#toCheck()) this.#follow(id)
    this.#changed.clear()
    return this.#engine
  }

  /** Makes sure that a query can be ranked by meaning; where a service does not answer it is ranked by words alone. */
  async prepareMeaning(query: string, signal?: AbortSignal): Promise<boolean> {
    await this.#followInTurns(signal)
    if (this.#remote === undefined) return true
    const tools = Array.from(this.#catalog.entries, ([id, { tool }]) => toSearchable(id, tool))
    const ready = await this.#remote.prepare(query, tools, signal)
    // Tools that came while the service was away have no vector yet.
    if (ready && this.#unprepared) this.#engine.forgetMeaning()
    this.#unprepared = !ready
    return ready
  }

  /** Takes over many changes while other requests have their turns; what changes meanwhile is left to the search. */
  async #followInTurns(signal: AbortSignal | undefined): Promise<void> {
    const rest = yieldTurns(signal)
    for (const id of [...this.#changed]) {
      this.#follow(id)
      await rest()
    }
  }

  /** Whoever searches while events are still being told must find all that was changed, so all is looked at. */
  #toCheck(): Iterable<string> {
    if (this.#heard === this.#catalog.version) return this.#changed
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
