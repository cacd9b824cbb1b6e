import type { LearnedQuery, LearningStore } from '../../contract/learning.ts'
import type { Caller } from '../../contract/stores.ts'
import type { Experience, ExperienceKeeper, ExperienceNews } from './experience.ts'

/** The experience of one workspace in the database, shared by all its processes. */
export class ExperienceTable implements ExperienceKeeper {
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
