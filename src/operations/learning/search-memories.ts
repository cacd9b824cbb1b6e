import { BoundedMap } from '../../base/bounded-map.ts'
import type { LearnedQuery, LearningStore } from '../../contract/search.ts'
import type { Caller } from '../../contract/stores.ts'
import type { Embedder } from '../../search/index.ts'
import type { Experience, ExperienceKeeper, ExperienceNews } from './experience.ts'
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
  readonly #open = new BoundedMap<string, SearchMemory>(maxOpen)

  constructor(options: SearchMemoriesOptions) {
    this.#options = options
  }

  of(workspace: string): SearchMemory {
    return this.#open.take(workspace, () => this.#start(workspace))
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

/** The experience of one workspace in the database, shared by all its processes. */
class ExperienceTable implements ExperienceKeeper {
  readonly place = 'the database'
  readonly #store: LearningStore
  readonly #workspace: string
  #known = new Set<string>()
  #moment: string | undefined

  constructor(store: LearningStore, workspace: string) {
    this.#store = store
    this.#workspace = workspace
  }

  async note({ query, toolIds }: Experience): Promise<void> {
    for (const toolId of toolIds) await this.#store.note(this.#workspace, query, toolId)
  }

  async all(): Promise<readonly Experience[]> {
    return (await this.#store.since(this.#workspace)).items.map(toExperience)
  }

  /** Reads only newer rows, unless the counts show that some were deleted or committed late. */
  async news(): Promise<ExperienceNews> {
    if (this.#moment === undefined) return this.#readAll()
    const { items, total } = await this.#store.since(this.#workspace, this.#moment)
    const fresh = items.filter((item) => !this.#known.has(keyOf(item)))
    if (this.#known.size + fresh.length !== total) return this.#readAll()
    this.#remember(items)
    return { anew: false, experiences: fresh.map(toExperience) }
  }

  async forget(caller: Caller): Promise<number> {
    const count = await this.#store.forget(caller)
    this.#moment = undefined
    return count
  }

  async #readAll(): Promise<ExperienceNews> {
    const { items } = await this.#store.since(this.#workspace)
    this.#known = new Set()
    this.#moment = undefined
    this.#remember(items)
    return { anew: true, experiences: items.map(toExperience) }
  }

  #remember(items: readonly LearnedQuery[]): void {
    for (const item of items) this.#known.add(keyOf(item))
    this.#moment = items.at(-1)?.learnedAt ?? this.#moment
  }
}

const keyOf = ({ query, toolId }: LearnedQuery): string => `${toolId}\n${query}`

const toExperience = ({ query, toolId }: LearnedQuery): Experience => ({ query, toolIds: [toolId] })
