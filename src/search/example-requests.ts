import type { SearchableTool } from '../contract/search.ts'
import type { Embedder } from './encoder.ts'
import { exampleOptions, PastQueries } from './past-queries.ts'

type Tools = Iterable<SearchableTool | undefined>

/** The example requests of all tools: those that are nearly the query vote for their tools. Read again after a change of them. */
export class ExampleRequests {
  readonly #loadEmbedder: () => Embedder | undefined
  #tools = 0
  #queries: PastQueries | undefined
  #unread: Generator<void, void> | undefined

  constructor(loadEmbedder: () => Embedder | undefined) {
    this.#loadEmbedder = loadEmbedder
  }

  /** A tool was added (1) or removed (-1). */
  change({ exampleRequests = [] }: SearchableTool, by: 1 | -1): void {
    if (exampleRequests.length === 0) return
    this.#tools += by
    this.#queries = undefined
  }

  /** Reads those of one more tool; false when all are read. */
  read(tools: Tools): boolean {
    if (this.#tools === 0) return false
    if (this.#queries === undefined) {
      this.#queries = new PastQueries(this.#loadEmbedder(), exampleOptions)
      this.#unread = addAll(this.#queries, tools)
    }
    if (this.#unread?.next().done !== false) this.#unread = undefined
    return this.#unread !== undefined
  }

  votes(text: string, tools: Tools): ReadonlyMap<string, number> | undefined {
    while (this.read(tools));
    return this.#queries === undefined || this.#queries.size === 0 ? undefined : this.#queries.votes(text)
  }
}

function* addAll(queries: PastQueries, tools: Tools): Generator<void, void> {
  for (const tool of tools) {
    if (tool?.exampleRequests === undefined || tool.exampleRequests.length === 0) continue
    for (const request of tool.exampleRequests) queries.add(request, [tool.id])
    yield
  }
}
