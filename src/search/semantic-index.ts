import { BoundedMap } from '../base/bounded-map.ts'
import type { SearchableTool } from '../contract/search.ts'
import type { Embedder } from './encoder.ts'
import type { LexicalIndex, TermWeights } from './lexical-index.ts'
import type { ToolWords } from './text-index.ts'
import { type Highest, toCosine, VectorTable } from './vector-table.ts'

/** The similarity of every tool to a query. */
export interface Heights {
  readonly products: Int32Array
  /** The mean cosine of unrelated requests to their nearest tool; 0 without the encoder of the package. */
  readonly background: number
  readonly mean: number
  readonly scale: number
}

/** The weight of one standard deviation of meaning beside BM25, tuned once on public retrieval sets; the same for every catalog. */
export const embeddingWeight = 4.5
/** The share of the best clause of a request in its meaning. */
const clauseShare = 0.4
/** The minimum deviation of a tool that matches by meaning alone. */
const standsOut = 2

/** Semantic index: every tool is compared with the query, exactly. */
export class SemanticIndex {
  readonly #embedder: Embedder
  readonly #vectors: VectorTable
  readonly #background: Background | undefined
  readonly #near: NearTerms

  constructor(embedder: Embedder) {
    this.#embedder = embedder
    this.#vectors = new VectorTable(embedder.dim)
    this.#background = embedder.isBuiltIn && new Background(embedder)
    this.#near = new NearTerms(embedder)
  }

  add(position: number, tool: SearchableTool, words?: ToolWords): void {
    this.#vectors.set(position, this.#embedder.embedTool(tool, words))
    this.#background?.add(position, this.#vectors)
  }

  /** Adds all tools by position, from words read before, some of them with each step; they may change between the steps. */
  *addAll(tools: readonly (SearchableTool | undefined)[], lexical: LexicalIndex): Generator<void, void> {
    const embedder = this.#embedder
    this.#vectors.reserve(tools.length)
    if (embedder.embedTools === undefined) {
      for (const [position, tool] of tools.entries()) {
        if (tool !== undefined) this.add(position, tool, lexical.wordsOf(position))
        yield
      }
      return
    }
    for (const { first, words } of lexical.allWords(toolsAtOnce)) {
      this.#vectors.setRows(first, embedder.embedTools(words))
      yield
    }
  }

  remove(position: number): void {
    this.#vectors.set(position, undefined)
    this.#background?.remove(position)
  }

  /** Adds the deviation of each tool, in standard deviations; one that is no nearer than the mean gets nothing. */
  score(text: string, scores: Float64Array): Heights | undefined {
    const heights = this.measure(text)
    if (heights === undefined) return undefined
    const { products, mean, scale } = heights
    for (let position = 0; position < products.length; position++) {
      const product = products[position] as number
      const height = (product - mean) * scale
      if (product !== 0 && height > 0) scores[position] = (scores[position] as number) + height
    }
    return heights
  }

  /**
   * The deviation of each tool is `(product - mean) * scale`; a product of zero is not a tool. Valid until the next call.
   */
  measure(text: string): Heights | undefined {
    const query = this.#embedder.embedQuery(text)
    const { count } = this.#vectors
    if (query === undefined || count === 0) return undefined
    const background = this.#background?.mean(this.#vectors) ?? 0
    const products = this.#vectors.products(query)
    const { sum, squares } = this.#vectors.sums()
    // Removed tools have the product zero, so they change neither sum.
    const mean = sum / count
    const deviation = Math.sqrt(Math.max(squares / count - mean * mean, 0))
    // If all products are equal, nothing stands out; a single tool is scored by its cosine alone.
    return deviation < 1e-6
      ? { products, background, mean: 0, scale: toCosine(1) }
      : { products, background, mean, scale: 1 / deviation }
  }

  /** The products of some tools with a text; undefined for a text without a known word. */
  productsAt(positions: readonly number[], text: string): readonly number[] | undefined {
    const query = this.#embedder.embedQuery(text)
    return query && this.#vectors.productsAt(positions, query)
  }

  /** What the best clause of a request adds to the scores of some tools. */
  clauseGains(
    clauses: readonly string[],
    positions: readonly number[],
    { products, scale }: Heights,
  ): readonly number[] {
    const known = clauses.map((clause) => this.productsAt(positions, clause)).filter((each) => each !== undefined)
    return positions.map((position, at) => {
      const whole = products[position] as number
      if (whole === 0 || known.length === 0) return 0
      const best = Math.max(...known.map((each) => each[at] as number))
      return embeddingWeight * scale * clauseShare * (best - whole)
    })
  }

  /** The terms of the catalog that are near a word of a text. */
  nearTerms(text: string, lexical: LexicalIndex): TermWeights {
    return this.#near.of(text, lexical)
  }

  /** How near the single words of some tools are to those of a text; see `Embedder.matchTools`. */
  matchTools(text: string, positions: readonly number[], lexical: LexicalIndex): readonly Float32Array[] | undefined {
    return this.#embedder.matchTools?.(text, wordsOfEach(positions, lexical))
  }

  /**
   * The scores of words with meaning added, after `measure`; valid until the next call. A tool without a word of the query
   * must stand out from the others.
   */
  fuse(words: Float64Array, { mean, scale }: Heights, tools: number): Float64Array {
    return this.#vectors.fuse(words, { mean, weight: embeddingWeight * scale, far: mean + minHeight(tools) / scale })
  }
}

const toolsAtOnce = 64

/** The words of each tool, valid until those of the next. */
function* wordsOfEach(positions: readonly number[], lexical: LexicalIndex): Generator<ToolWords, void> {
  for (const position of positions) yield lexical.wordsOf(position)
}

/** With few tools none can stand out far: the best of n is at most the root of n - 1 deviations above the mean. */
const minHeight = (count: number): number => Math.min(standsOut, 0.8 * Math.sqrt(Math.max(count - 1, 0)))

/** The deviation of one tool from the mean. */
export const heightOf = (heights: Heights | undefined, position: number): number =>
  heights === undefined ? 0 : Math.max(0, ((heights.products[position] ?? 0) - heights.mean) * heights.scale)

/** The score of a product on the scale of one query. */
export const standardize = (product: number, { mean, scale }: Heights): number =>
  embeddingWeight * Math.max(0, (product - mean) * scale)

/** The cosine of one tool to the query. */
export const cosineOf = (heights: Heights | undefined, position: number): number =>
  toCosine(heights?.products[position] ?? 0)

/** The weight of a word that is near one of the request, tuned on public sets that its encoder was not trained on. */
const nearWeight = 0.3
const maxRemembered = 20_000

interface NearTerm {
  readonly term: string
  readonly weight: number
}

/** The terms of a catalog that mean about the same as a word of a request. */
export class NearTerms {
  readonly #embedder: Embedder
  readonly #known = new BoundedMap<string, readonly NearTerm[]>(maxRemembered)

  constructor(embedder: Embedder) {
    this.#embedder = embedder
  }

  /** With their weights; a term counts no more than the word that it stands for. */
  of(text: string, lexical: LexicalIndex): TermWeights {
    const near = new Map<string, number>()
    const { tokenizer } = lexical
    const words = new Set(tokenizer.words(text))
    const own = new Set(Array.from(words, (word) => tokenizer.term(word)))
    for (const word of words) {
      const asked = tokenizer.term(word)
      if (asked === undefined) continue
      const rarity = lexical.rarity(asked)
      for (const { term, weight } of this.#nearTo(word, lexical)) {
        if (own.has(term) || lexical.countOf(term) === 0) continue
        const share = weight * Math.min(1, rarity / lexical.rarity(term))
        if (share > (near.get(term) ?? 0)) near.set(term, share)
      }
    }
    return near
  }

  #nearTo(word: string, { tokenizer }: LexicalIndex): readonly NearTerm[] {
    const known = this.#known.get(word)
    if (known !== undefined) return known
    const near = (this.#embedder.nearWords?.(word) ?? []).flatMap(({ word: other, cosine }) => {
      const term = tokenizer.term(other)
      return term === undefined ? [] : [{ term, weight: nearWeight * cosine }]
    })
    this.#known.set(word, near)
    return near
  }
}

/** Everyday requests of many subjects; what they find in a catalog by chance shows how near any request is to one of its tools. */
const backgroundRequests: readonly string[] = [
  'find a recipe with the vegetables in my fridge',
  'show the weather forecast for the weekend',
  'what is the fastest route to the airport',
  'translate this sentence into Spanish',
  'play some relaxing music',
  'calculate the area of a triangle',
  'book a table for two at an Italian restaurant',
  'generate a secure password',
  'get the current price of a stock',
  'summarize a long document',
  'count the rows of a database table',
  'plan a training schedule for a marathon',
  'turn off the lights in the kitchen',
  'solve a quadratic equation',
  'restart the server',
  'add a contact to the address book',
  'read the text in a scanned page',
  'compare two insurance offers',
  'merge two branches',
  'extract the names of people from an article',
  'how many calories does a banana have',
  'schedule a meeting with the sales department',
  'apply for a loan',
  'simulate the motion of a pendulum',
]

interface Nearest {
  readonly query: Float32Array
  product: number
  /** The tool with the product; -1 for none. */
  position: number
  isKnown: boolean
}

/**
 * How near unrelated requests are to the tools of a catalog: the mean of the cosines to the nearest tool. It depends on the tools
 * only, and not on the order in which they were added.
 */
export class Background {
  readonly #nearest: readonly Nearest[]

  constructor(embedder: Embedder) {
    this.#nearest = backgroundRequests.flatMap((text) => {
      const query = embedder.embedQuery(text)?.slice()
      return query === undefined ? [] : [{ query, product: 0, position: -1, isKnown: false }]
    })
  }

  /** A tool was added. */
  add(position: number, table: VectorTable): void {
    const known = this.#nearest.filter(({ isKnown }) => isKnown)
    this.#raise(known, table.highest(queriesOf(known), position, position + 1))
  }

  remove(position: number): void {
    for (const each of this.#nearest) if (each.position === position) each.isKnown = false
  }

  mean(table: VectorTable): number {
    const unknown = this.#nearest.filter(({ isKnown }) => !isKnown)
    for (const each of unknown) Object.assign(each, { product: 0, position: -1, isKnown: true })
    this.#raise(unknown, table.highest(queriesOf(unknown)))
    let sum = 0
    for (const { product } of this.#nearest) sum += toCosine(product)
    return this.#nearest.length === 0 ? 0 : sum / this.#nearest.length
  }

  #raise(some: readonly Nearest[], found: readonly Highest[]): void {
    for (const [index, each] of some.entries()) {
      const highest = found[index]
      if (highest !== undefined && highest.product > each.product) Object.assign(each, highest)
    }
  }
}

const queriesOf = (some: readonly Nearest[]): readonly Float32Array[] => some.map(({ query }) => query)
