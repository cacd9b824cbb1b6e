import { setTimeout as sleep } from 'node:timers/promises'
import { BoundedMap } from '../../base/bounded-map.ts'
import { lazyModule } from '../../base/lazy-module.ts'
import { yieldTurns } from '../../base/yield-turns.ts'
import type { Execution } from '../../contract/execution.ts'
import type { LearnedQuery, LearningStore } from '../../contract/search.ts'
import type { Caller } from '../../contract/stores.ts'
import { isFinal } from '../../rules/is-final.ts'
import type { Embedder, PastQueries } from '../../search/index.ts'
import type { Experience, ExperienceKeeper, ExperienceNews } from './experience.ts'

const loadPastQueries = lazyModule(() => import('../../search/past-queries.ts'))

/** The store of experience, and the embedder that compares queries. */
export interface SearchMemoryOptions {
  /** Absent if learning is off. */
  readonly keeper?: ExperienceKeeper | undefined
  readonly loadEmbedder: () => Embedder | undefined
}

const recentSearches = 5
const maxActors = 200
const maxPending = 1000
// Entries of other processes are read this often while searches arrive; no search waits for them.
const pollIntervalMs = 2000
// Only the first search waits for earlier entries, and no longer than this.
const firstWaitMs = 500

/** Learns from queries and the successful calls that followed. */
export class SearchMemory {
  readonly #options: SearchMemoryOptions
  readonly #recent = new BoundedMap<string, { query: string; ids: ReadonlySet<string> }[]>(maxActors)
  /** Calls that followed a search and have not ended, by execution. */
  readonly #pending = new BoundedMap<string, Experience>(maxPending)
  readonly #notes = new Set<Promise<void>>()
  #past: PastQueries | undefined
  #looking: Promise<void> | undefined
  #lookedAt = Number.NEGATIVE_INFINITY

  constructor(options: SearchMemoryOptions) {
    this.#options = options
  }

  /** The learned boosts of tools for a query; empty if nothing was learned. */
  async votes(query: string): Promise<ReadonlyMap<string, number> | undefined> {
    if (query.trim() === '' || this.#options.keeper === undefined) return undefined
    const looking = this.#poll(this.#options.keeper)
    if (this.#past === undefined) await Promise.race([looking, sleep(firstWaitMs, undefined, { ref: false })])
    return this.#past === undefined || this.#past.size === 0 ? undefined : this.#past.votes(query)
  }

  noteSearch({ actor }: Caller, query: string, ids: readonly string[]): void {
    if (query.trim() === '' || this.#options.keeper === undefined) return
    const before = this.#recent.get(actor) ?? []
    this.#recent.set(actor, [{ query, ids: new Set(ids) }, ...before].slice(0, recentSearches))
  }

  /** Credits a successful call to the latest search of its caller that returned the tool. */
  noteSuccess({ actor }: Caller, toolId: string): void {
    const experience = this.#ledTo(actor, toolId)
    if (experience !== undefined) this.#keep(experience)
  }

  /** Notes a recorded call of a tool: its success now, or when its end is read. */
  noteCall({ actor }: Caller, toolId: string, execution: Execution): void {
    const experience = this.#ledTo(actor, toolId)
    if (experience === undefined) return
    this.#pending.set(execution.id, experience)
    this.noteEnd(execution)
  }

  /** Credits a noted call once it has succeeded, however often its end is read. */
  noteEnd({ id, status }: Execution): void {
    const experience = this.#pending.get(id)
    if (experience === undefined || !isFinal(status)) return
    this.#pending.delete(id)
    if (status === 'SUCCESS') this.#keep(experience)
  }

  #ledTo(actor: string, toolId: string): Experience | undefined {
    const search = this.#recent.get(actor)?.find(({ ids }) => ids.has(toolId))
    return search === undefined ? undefined : { query: search.query, toolIds: [toolId] }
  }

  #keep(experience: Experience): void {
    if (this.#options.keeper === undefined) return
    this.#past?.add(experience.query, experience.toolIds)
    // A failed write only means that nothing is learned.
    const noting = this.#options.keeper.note(experience).catch(() => {})
    this.#notes.add(noting)
    void noting.then(() => this.#notes.delete(noting))
  }

  /** Resolves when all noted entries are stored. */
  async settled(): Promise<void> {
    await Promise.all(this.#notes)
  }

  /** The name of the store; undefined if learning is off. */
  get place(): string | undefined {
    return this.#options.keeper?.place
  }

  /** All entries, oldest first. */
  async experiences(): Promise<readonly Experience[]> {
    await this.settled()
    return (await this.#options.keeper?.all()) ?? []
  }

  /** Deletes all entries and returns their number. */
  async forget(caller: Caller): Promise<number> {
    await this.settled()
    await this.#looking
    const count = (await this.#options.keeper?.forget(caller)) ?? 0
    this.#past = undefined
    this.#lookedAt = Number.NEGATIVE_INFINITY
    return count
  }

  /** Reads new entries, unless that was done recently; if the read fails, the known ones stay. */
  #poll(keeper: ExperienceKeeper): Promise<void> {
    if (this.#looking === undefined && performance.now() - this.#lookedAt > pollIntervalMs)
      this.#looking = this.#takeOver(keeper)
        .catch(() => {})
        .finally(() => {
          this.#lookedAt = performance.now()
          this.#looking = undefined
        })
    return this.#looking ?? Promise.resolve()
  }

  async #takeOver(keeper: ExperienceKeeper): Promise<void> {
    const { anew, experiences } = await keeper.news()
    const previous = anew ? undefined : this.#past
    const past = previous ?? new (await loadPastQueries()).PastQueries(this.#options.loadEmbedder())
    const turn = yieldTurns()
    for (const { query, toolIds } of experiences) {
      past.add(query, toolIds)
      await turn()
    }
    this.#past = past
  }
}

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
