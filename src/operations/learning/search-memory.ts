import { appendFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { ensureFolder } from '../base/ensure-folder.ts'
import type { Embedder } from '../search/index.ts'
import { PastQueries } from '../search/index.ts'

/** Where experience is kept, and how much of it. */
export interface SearchMemoryOptions {
  /** One JSON line an experience; none where nothing is to be kept. */
  readonly file?: string | undefined
  readonly loadEmbedder: () => Embedder | undefined
}

/** One thing learned: this query led to this tool, and the call succeeded. */
export interface Experience {
  readonly query: string
  readonly toolIds: readonly string[]
}

const mostLines = 5000
const recentSearches = 5

/** Learns from what was searched, called and succeeded. */
export class SearchMemory {
  readonly #options: SearchMemoryOptions
  readonly #recent: { query: string; ids: ReadonlySet<string> }[] = []
  #past: PastQueries | undefined

  constructor(options: SearchMemoryOptions) {
    this.#options = options
  }

  /** What experience adds to the tools for a query; nothing where nothing was learned. */
  votes(query: string): ReadonlyMap<string, number> | undefined {
    if (this.#options.file === undefined) return undefined
    const past = this.#load()
    return past.size === 0 ? undefined : past.votes(query)
  }

  noteSearch(query: string, ids: readonly string[]): void {
    if (query.trim() === '' || this.#options.file === undefined) return
    this.#recent.unshift({ query, ids: new Set(ids) })
    this.#recent.length = Math.min(this.#recent.length, recentSearches)
  }

  /** A call that succeeded is credited to the latest search that showed its tool. */
  noteSuccess(toolId: string): void {
    const search = this.#recent.find(({ ids }) => ids.has(toolId))
    if (search === undefined || this.#options.file === undefined) return
    this.#load().add(search.query, [toolId])
    this.#append(this.#options.file, { query: search.query, toolIds: [toolId] })
  }

  /** Where it is kept; undefined where learning is switched off. */
  get file(): string | undefined {
    return this.#options.file
  }

  /** Everything that was learned. */
  experiences(): readonly Experience[] {
    return this.#options.file === undefined ? [] : readExperiences(this.#options.file)
  }

  reset(): void {
    if (this.#options.file !== undefined) rmSync(this.#options.file, { force: true })
    this.#past = undefined
  }

  #load(): PastQueries {
    if (this.#past === undefined) {
      this.#past = new PastQueries(this.#options.loadEmbedder())
      for (const { query, toolIds } of this.experiences()) this.#past.add(query, toolIds)
    }
    return this.#past
  }

  /** A file that cannot be written only means that nothing is learned. */
  #append(file: string, experience: Experience): void {
    try {
      ensureFolder(dirname(file))
      appendFileSync(file, `${JSON.stringify(experience)}\n`, { mode: 0o600 })
      const all = readExperiences(file)
      if (all.length > mostLines) {
        const kept = all.slice(-mostLines / 2).map((line) => JSON.stringify(line))
        writeFileSync(file, `${kept.join('\n')}\n`, { mode: 0o600 })
      }
    } catch {
      // Searching goes on without it.
    }
  }
}

function readExperiences(file: string): readonly Experience[] {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch {
    return []
  }
  return text.split('\n').flatMap((line) => {
    try {
      const { query, toolIds } = JSON.parse(line)
      return typeof query === 'string' && Array.isArray(toolIds) ? [{ query, toolIds: toolIds.map(String) }] : []
    } catch {
      return []
    }
  })
}
