import type { ToolIndexEntry } from '../contract/tool-index.ts'
import { splitIdentifiers } from './split-identifiers.ts'

/** What a ranked search takes; all filters must hold. */
export interface WordQuery {
  readonly query: string
  readonly accept: (entry: ToolIndexEntry) => boolean
}

/** A tool and how well it fits, best first. */
export interface RankedEntry {
  readonly entry: ToolIndexEntry
  readonly score: number
}

// How much a word of the query counts where it is found.
const weights = { name: 4, label: 2, description: 1 }
const partialMatch = 0.6
const exactName = 1000

interface Document {
  readonly entry: ToolIndexEntry
  readonly text: string
  readonly joined: string
  readonly words: ReadonlyMap<string, number>
}

/** Ranks tools word by word: by where the words are found, how rare they are, and how many of them a tool has. */
export class WordSearch {
  readonly #entries: readonly ToolIndexEntry[]
  readonly #found = new Map<string, number>()
  #documents: readonly Document[] = []

  constructor(entries: readonly ToolIndexEntry[]) {
    this.#entries = entries
  }

  /** Reads the tools at the first search, so that a start does not wait for it. */
  #prepare(): void {
    if (this.#documents.length === this.#entries.length) return
    this.#documents = this.#entries.map(toDocument)
    for (const { words } of this.#documents) {
      for (const word of words.keys()) this.#found.set(word, (this.#found.get(word) ?? 0) + 1)
    }
  }

  search({ query, accept }: WordQuery): readonly RankedEntry[] {
    this.#prepare()
    const documents = this.#documents.filter(({ entry }) => accept(entry))
    const parts = splitIdentifiers(query)
    const words = [...new Set(parts.map(stem))]
    const ranked = documents.flatMap((document): RankedEntry[] => {
      const score = words.length === 0 ? 0 : this.#score(document, words, parts.join(''))
      return score > 0 ? [{ entry: document.entry, score }] : []
    })
    if (ranked.length > 0) return ranked.sort((a, b) => b.score - a.score)
    // No such word, or none at all: what was typed may still stand in a text as it is. Nothing typed stands in all.
    const typed = query.trim().toLowerCase()
    return documents.filter(({ text }) => text.includes(typed)).map(({ entry }) => ({ entry, score: 1 }))
  }

  #score(document: Document, words: readonly string[], joined: string): number {
    let score = 0
    let matched = 0
    for (const word of words) {
      const weight = document.words.get(word) ?? partialMatch * partial(document.words, word)
      if (weight === 0) continue
      matched++
      score += weight * Math.log(1 + this.#documents.length / (1 + (this.#found.get(word) ?? 0)))
    }
    // Outside the share of words found: a name written without its separators has no word in common with itself.
    const exact = joined === document.joined ? exactName : 0
    return exact + score * (matched / words.length)
  }
}

function toDocument(entry: ToolIndexEntry): Document {
  const words = new Map<string, number>()
  const add = (text: string, weight: number) => {
    for (const word of splitIdentifiers(text).map(stem)) words.set(word, Math.max(weight, words.get(word) ?? 0))
  }
  const labels = [entry.cliName, entry.category ?? '', ...entry.tags]
  add(entry.toolName, weights.name)
  for (const label of labels) add(label, weights.label)
  add(entry.description, weights.description)
  const text = [entry.toolName, entry.description, ...labels].join(' ').toLowerCase()
  return { entry, text, joined: splitIdentifiers(entry.toolName).join(''), words }
}

/** The weight of the best word that begins with what was typed. */
function partial(words: ReadonlyMap<string, number>, typed: string): number {
  if (typed.length < 3) return 0
  let best = 0
  for (const [word, weight] of words) if (word.startsWith(typed) && weight > best) best = weight
  return best
}

/** Takes off the ending that most often keeps a request from meeting a name: the plural. */
function stem(word: string): string {
  return word.length > 3 && word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word
}
