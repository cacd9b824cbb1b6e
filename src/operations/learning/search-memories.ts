import type { LearningStore } from '../../contract/learning.ts'
import type { Embedder } from '../../search/index.ts'
import { ExperienceTable } from './experience-table.ts'
import { SearchMemory } from './search-memory.ts'

interface SearchMemoriesOptions {
  /** None where nothing is to be learned. */
  readonly store: LearningStore | undefined
  readonly loadEmbedder: () => Embedder | undefined
}

const maxOpen = 100

/** A memory for each workspace, kept in the database; nobody learns from another. */
export class SearchMemories {
  readonly #options: SearchMemoriesOptions
  readonly #open = new Map<string, SearchMemory>()

  constructor(options: SearchMemoriesOptions) {
    this.#options = options
  }

  of(workspace: string): SearchMemory {
    const memory = this.#open.get(workspace) ?? this.#start(workspace)
    // Whoever asked last stands last, so that the first is let go first.
    this.#open.delete(workspace)
    this.#open.set(workspace, memory)
    const [oldest] = this.#open.keys()
    if (this.#open.size > maxOpen && oldest !== undefined) this.#open.delete(oldest)
    return memory
  }

  /** Resolved when all that was noted is kept. */
  async settled(): Promise<void> {
    await Promise.all(Array.from(this.#open.values(), (memory) => memory.settled()))
  }

  #start(workspace: string): SearchMemory {
    const { store, loadEmbedder } = this.#options
    return new SearchMemory({ keeper: store && new ExperienceTable(store, workspace), loadEmbedder })
  }
}
