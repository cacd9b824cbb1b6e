import type { LearningStore } from '../../contract/learning.ts'
import type { Embedder } from '../../search/index.ts'
import { ExperienceTable } from './experience-table.ts'
import { SearchMemory } from './search-memory.ts'

interface SearchMemoriesOptions {
  /** Absent if learning is off. */
  readonly store: LearningStore | undefined
  readonly loadEmbedder: () => Embedder | undefined
}

const maxOpen = 100

/** One memory per workspace, stored in the database; workspaces do not learn from each other. */
export class SearchMemories {
  readonly #options: SearchMemoriesOptions
  readonly #open = new Map<string, SearchMemory>()

  constructor(options: SearchMemoriesOptions) {
    this.#options = options
  }

  of(workspace: string): SearchMemory {
    const memory = this.#open.get(workspace) ?? this.#start(workspace)
    // The most recently used memory is last, so that the first is evicted first.
    this.#open.delete(workspace)
    this.#open.set(workspace, memory)
    const [oldest] = this.#open.keys()
    if (this.#open.size > maxOpen && oldest !== undefined) this.#open.delete(oldest)
    return memory
  }

  /** Resolves when all noted entries are stored. */
  async settled(): Promise<void> {
    await Promise.all(Array.from(this.#open.values(), (memory) => memory.settled()))
  }

  #start(workspace: string): SearchMemory {
    const { store, loadEmbedder } = this.#options
    return new SearchMemory({ keeper: store && new ExperienceTable(store, workspace), loadEmbedder })
  }
}
