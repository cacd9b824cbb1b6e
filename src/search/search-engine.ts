import { SubstringIndex } from '../base/substring-index.ts'
import type { Explanation, RankedPage, RankedTool, RankQuery, SearchableTool, SearchMode } from '../contract/search.ts'
import { confidenceOf, type Evidence, evidenceOf, fitFor, type Signals, votesFor } from './confidence.ts'
import type { Embedder } from './encoder.ts'
import { ExampleRequests } from './example-requests.ts'
import { clausesOf, demoteUncallable, matchGain, rankByClauses, rankByMatches, reordered } from './first-hits.ts'
import { explainHit } from './hit-score.ts'
import { LexicalIndex, type TermOptions, type TermWeights } from './lexical-index.ts'
import { type ReadQuery, readQuery } from './read-query.ts'
import { embeddingWeight, heightOf, SemanticIndex } from './semantic-index.ts'
import { takeBest } from './take-best.ts'
import { createTokenizer, firstWords, maxQueryCharacters, termsOf } from './tokenize.ts'
import { checkSearchable, isNamed, literalText } from './tool-fields.ts'

/** A query of the engine: the first ten results, unless it says otherwise. */
export type EngineQuery = Omit<RankQuery<SearchableTool>, 'offset' | 'limit'> &
  Partial<Pick<RankQuery, 'offset' | 'limit'>>
export type EngineHit = RankedTool<SearchableTool>
export type EngineAnswer = RankedPage<SearchableTool>

// An index keeps every word it has read; after this many removals per remaining tool it is rebuilt.
const [removalsPerTool, minRemovals] = [4, 5000]

/** Finds tools by words and by meaning. Adding, changing or removing a tool updates it in place. */
export class SearchEngine {
  readonly #tokenizer = createTokenizer()
  readonly #loadEmbedder: () => Embedder | undefined
  readonly #loadVocabulary: () => Embedder | undefined
  readonly #tools: (SearchableTool | undefined)[] = []
  readonly #positions = new Map<string, number>()
  readonly #free: number[] = []
  #lexical = new LexicalIndex(this.#tokenizer)
  /** Created with the first semantic search. */
  #semantic: SemanticIndex | undefined
  /** Reads the vectors of the tools that were there before the semantic index. */
  #unread: Generator<void, void> | undefined
  readonly #examples: ExampleRequests
  #removals = 0
  /** The texts for literal matches; rebuilt after a change. */
  #texts: SubstringIndex<{ readonly tool: SearchableTool; readonly position: number }> | undefined
  #total = new Float64Array(64)

  /**
   * The embedder is loaded with the first semantic search; without one, search ranks by words only. The words that the
   * vocabulary embeds are not corrected.
   */
  constructor(loadEmbedder: () => Embedder | undefined = () => undefined, loadVocabulary = loadEmbedder) {
    this.#loadEmbedder = loadEmbedder
    this.#loadVocabulary = loadVocabulary
    this.#examples = new ExampleRequests(loadEmbedder)
  }

  get size(): number {
    return this.#positions.size
  }

  get(id: string): SearchableTool | undefined {
    return this.#tools[this.#positions.get(id) ?? -1]
  }

  /** Adds a tool, or replaces the one with its id. */
  add(tool: SearchableTool): void {
    checkSearchable(tool)
    this.remove(tool.id)
    const position = this.#free.pop() ?? this.#tools.length
    this.#tools[position] = tool
    this.#positions.set(tool.id, position)
    this.#texts = undefined
    this.#lexical.add(position, tool)
    this.#semantic?.add(position, tool, this.#lexical.wordsOf(position))
    this.#examples.change(tool, 1)
  }

  remove(id: string): boolean {
    const position = this.#positions.get(id)
    const tool = position === undefined ? undefined : this.#tools[position]
    if (position === undefined || tool === undefined) return false
    this.#lexical.remove(position)
    this.#semantic?.remove(position)
    this.#examples.change(tool, -1)
    this.#tools[position] = undefined
    this.#positions.delete(id)
    this.#texts = undefined
    this.#free.push(position)
    this.#removals++
    if (this.wear > 1) this.#rebuild()
    return true
  }

  /** Grows with removals; above 1 the engine rebuilds itself within one change, unless its owner has replaced it before. */
  get wear(): number {
    return this.#removals / Math.max(minRemovals, this.size * removalsPerTool)
  }

  /** Reads the examples or the meaning of some more tools, which a search otherwise does at once; false when all are read. */
  read(mode: SearchMode = 'hybrid'): boolean {
    if (mode === 'substring') return false
    return this.#examples.read(this.#tools) || (mode !== 'bm25' && this.#readMeaning())
  }

  #readMeaning(): boolean {
    if (this.#semantic === undefined) {
      const embedder = this.#loadEmbedder()
      if (embedder === undefined) return false
      this.#semantic = new SemanticIndex(embedder)
      this.#unread = this.#semantic.addAll(this.#tools, this.#lexical)
    }
    if (this.#unread?.next().done !== false) this.#unread = undefined
    return this.#unread !== undefined
  }

  /** Drops all vectors, which the next semantic search rebuilds. */
  forgetMeaning(): void {
    this.#semantic = undefined
  }

  search(query: EngineQuery): EngineAnswer {
    const mode = query.mode ?? 'hybrid'
    const [limit, offset] = [wholeNumber(query.limit ?? 10), wholeNumber(query.offset ?? 0)]
    const { isCallable, minScore = 0 } = query
    const [first, exact] = [this.#signals(query, mode), this.#exactly(query.query)]
    const clauses = mode === 'hybrid' ? clausesOf(first.text) : []
    // Ranking a clause overwrites the scores of words.
    const signals = clauses.length < 2 || first.words === undefined ? first : { ...first, words: first.words.slice() }
    const ranks = this.#applyFilters(signals.total, exact, query)
    const before = (a: number, b: number) => (this.#tools[a]?.id ?? '') < (this.#tools[b]?.id ?? '')
    const { best, total } = takeBest({ ranks, limit: Math.max(offset + limit, reordered), before })
    const sources = { lexical: this.#lexical, semantic: this.#semantic, heights: signals.heights }
    const raised =
      mode === 'hybrid'
        ? rankByMatches(best, ranks, { text: signals.text, count: signals.asked.length, ...sources })
        : best
    const ordered = rankByClauses(raised, ranks, { clauses, ...sources })
    const canCall = (position: number) =>
      exact.has(position) || isCallable?.(this.#tools[position] as SearchableTool) !== false
    const shown = isCallable === undefined ? ordered : demoteUncallable(ordered, ranks, canCall)
    const confidence = (position: number) => this.#confidence(position, signals, exact, mode)
    const fit = query.query.trim() === '' ? undefined : fitFor(shown[0] === undefined ? 0 : confidence(shown[0]))
    // The probability never increases down the list.
    let likeliest = 1
    const hits = shown.slice(0, offset + limit).map((position): EngineHit => {
      likeliest = Math.min(likeliest, confidence(position))
      return { tool: this.#tools[position] as SearchableTool, score: likeliest, scoreType: mode }
    })
    return { hits: hits.slice(offset).filter((hit) => hit.score >= minScore), total, fit }
  }

  /** Explains the rank of a tool. */
  explain(id: string, query: EngineQuery): Explanation | undefined {
    return this.explainAll([id], query).next().value ?? undefined
  }

  /** Explains the ranks of tools, one with each step; another search in between is not allowed. */
  *explainAll(ids: Iterable<string>, query: EngineQuery): Generator<Explanation | undefined, void> {
    const mode = query.mode ?? 'hybrid'
    const signals = this.#signals(query, mode)
    const { text, terms, heights, asked } = signals
    if (mode === 'substring') this.#lexical.rank(text, this.#tools.length)
    const exact = this.#exactly(query.query)
    const clauses = mode === 'hybrid' ? clausesOf(text) : []
    const gainOf = (position: number) => {
      if (mode !== 'hybrid' || heights === undefined || this.#semantic === undefined) return 0
      const matches = this.#semantic.matchTools(text, [position], this.#lexical)?.[0]
      const byClause = clauses.length > 1 ? this.#semantic.clauseGains(clauses, [position], heights)[0] : 0
      return ((byClause ?? 0) + matchGain(matches, asked.length)) / embeddingWeight
    }
    const readAs = text === firstWords(query.query).slice(0, maxQueryCharacters) ? undefined : text
    for (const id of ids) {
      const [position, tool] = [this.#positions.get(id), this.get(id)]
      if (position === undefined || tool === undefined) yield undefined
      else
        yield explainHit({
          tool,
          readAs,
          terms,
          scoreOf: (term) => this.#lexical.scoreOf(position, term),
          nameCoverage: this.#lexical.nameCoverage(position, terms),
          tokenizer: this.#tokenizer,
          exactName: exact.has(position),
          embedding: heightOf(heights, position) + gainOf(position),
          learned: votesFor(id, signals),
          embeddingWeight,
          evidence: mode === 'substring' ? undefined : this.#evidence(position, signals),
        })
    }
  }

  #signals({ query: whole, learned }: EngineQuery, mode: SearchMode): Signals {
    const query = firstWords(whole).slice(0, maxQueryCharacters)
    this.#reserve()
    const total = this.#total.subarray(0, this.#tools.length).fill(0)
    const { text, weights }: ReadQuery = mode === 'substring' ? { text: query, weights: noWeights } : this.#read(query)
    if (mode === 'hybrid' || mode === 'embedding') while (this.#readMeaning());
    const near = mode === 'hybrid' ? this.#semantic?.nearTerms(text, this.#lexical) : undefined
    const found = this.#score({ text: mode === 'substring' ? whole : text, weights, near }, mode, total)
    const examples = mode === 'substring' ? undefined : this.#examples.votes(text, this.#tools)
    const votes = mode === 'substring' ? [] : [examples, learned]
    for (const each of votes) this.#addVotes(each, total)
    const asked = [...new Set(termsOf(this.#tokenizer, query))]
    const terms = this.#lexical.terms(text, { weights, near })
    return { text, terms, asked, ideal: this.#lexical.ideal(query), ...found, votes, total }
  }

  /** Only what neither the catalog nor the vocabulary of the encoder has is corrected. */
  #read(query: string): ReadQuery {
    const isWord = (word: string) => this.#loadVocabulary()?.embedQuery(word) !== undefined
    return readQuery(query, { lexical: this.#lexical, tokenizer: this.#tokenizer, isWord })
  }

  /** Fills in the score of each tool, and returns those of words and meaning separately. */
  #score(
    { text, ...options }: ReadQuery & TermOptions,
    mode: SearchMode,
    total: Float64Array,
  ): Pick<Signals, 'words' | 'heights'> {
    const semantic = mode === 'hybrid' || mode === 'embedding' ? this.#semantic : undefined
    if (mode === 'embedding') {
      const heights = semantic?.score(text, total)
      // On the scale of hybrid scores, to which experience is calibrated.
      for (let position = 0; position < total.length; position++)
        total[position] = (total[position] as number) * embeddingWeight
      return { words: this.#lexical.rank(text, total.length, options), heights }
    }
    if (mode === 'substring') {
      this.#matchSubstring(text, total)
      return {}
    }
    const words = this.#lexical.rank(text, total.length, options)
    const heights = semantic?.measure(text)
    total.set(heights === undefined || semantic === undefined ? words : semantic.fuse(words, heights, this.size))
    return { words, heights }
  }

  #addVotes(votes: ReadonlyMap<string, number> | undefined, total: Float64Array): void {
    for (const [id, boost] of votes ?? []) {
      const position = this.#positions.get(id)
      if (position !== undefined) total[position] = (total[position] as number) + boost
    }
  }

  /** The score column is reused by the next query: allocating it took longer than filling it. */
  #reserve(): void {
    if (this.#total.length >= this.#tools.length) return
    this.#total = new Float64Array(Math.max(this.#tools.length, this.#total.length * 2))
  }

  #matchSubstring(query: string, scores: Float64Array): void {
    const present = () => this.#tools.flatMap((tool, position) => (tool === undefined ? [] : [{ tool, position }]))
    this.#texts ??= new SubstringIndex(present(), ({ tool }) => literalText(tool))
    const found = this.#texts.find(query.toLowerCase(), Number.POSITIVE_INFINITY)
    for (const { position } of found) scores[position] = 1
  }

  /** Puts exact names on top and excludes tools that are not accepted. */
  #applyFilters(ranks: Float64Array, exact: ReadonlySet<number>, { query, accept }: EngineQuery): Float64Array {
    if (query.trim() === '')
      for (const [position, tool] of this.#tools.entries()) ranks[position] = tool === undefined ? 0 : 1
    for (const position of exact) ranks[position] = exactRank + (ranks[position] as number)
    if (accept === undefined) return ranks
    for (const [position, tool] of this.#tools.entries()) {
      if (ranks[position] !== 0 && tool !== undefined && !accept(tool)) ranks[position] = 0
    }
    return ranks
  }

  #confidence(position: number, signals: Signals, exact: ReadonlySet<number>, mode: SearchMode): number {
    return exact.has(position) || mode === 'substring' ? 1 : confidenceOf(this.#evidence(position, signals))
  }

  #evidence(position: number, signals: Signals): Evidence {
    const isBuiltIn = this.#loadEmbedder()?.isBuiltIn === true
    return evidenceOf(position, signals, { isBuiltIn, id: this.#tools[position]?.id ?? '' })
  }

  #exactly(query: string): ReadonlySet<number> {
    if (query.length > maxQueryCharacters) return new Set()
    return new Set(this.#lexical.findNames(query).filter((position) => isNamed(this.#tools[position], query)))
  }

  #rebuild(): void {
    this.#removals = 0
    this.#lexical = new LexicalIndex(this.#tokenizer)
    this.#semantic = undefined
    for (const [position, tool] of this.#tools.entries()) if (tool !== undefined) this.#lexical.add(position, tool)
  }
}

const wholeNumber = (value: number): number => Math.max(0, Math.trunc(value) || 0)
// Above any sum of words and meaning.
const exactRank = 1e9
const noWeights: TermWeights = new Map()
