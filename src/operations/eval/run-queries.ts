import type { TokenCounter } from '../../base/tokens.ts'
import { yieldTurns } from '../../base/yield-turns.ts'
import { cutText } from '../../catalog/index.ts'
import { maxShortDescription, type SearchMode } from '../../contract/search.ts'
import type { Embedder } from '../../search/encoder.ts'
import { PastQueries } from '../../search/past-queries.ts'
import { SearchEngine } from '../../search/search-engine.ts'
import type { EvalSet, QueryLine } from './eval-set.ts'
import { type Confidences, noteConfidence } from './set-scores.ts'

/** The mode, limit and learned queries of an evaluation. */
interface AskOptions {
  readonly mode: SearchMode
  readonly limit: number
  readonly loadEmbedder: () => Embedder | undefined
  /** Queries with relevant tools that search learns in advance. */
  readonly learn: readonly QueryLine[]
}

/** The measured part of a search result. */
interface AskedHit {
  /** The probability that the tool serves the query. */
  readonly score: number
  readonly tool: { readonly id: string; readonly name: string; readonly description: string }
}

/** Runs one query. */
export type Ask = (query: string) => readonly AskedHit[] | Promise<readonly AskedHit[]>

/** The options of an evaluation besides its queries. */
interface MeasureOptions {
  readonly runQuery: Ask
  readonly countTokens: TokenCounter
  readonly signal?: AbortSignal | undefined
  /** Called after each query. */
  readonly onQuery: () => void
}

/** The result of one query. */
export interface Ranking {
  readonly id: string
  readonly results: readonly string[]
}

/** The measurements of a set, query by query. */
export interface Measured {
  readonly scores: readonly Scores[]
  /** For each scored query whether the first five results have all relevant tools. */
  readonly wholeSets: readonly boolean[]
  readonly confidences: Confidences
  readonly rankings: readonly Ranking[]
  /** Of a sample: counting tokens takes longer than searching. */
  readonly tokens: readonly number[]
  readonly milliseconds: readonly number[]
}

const maxCounted = 50

/** Runs queries one after another. */
export async function measureQueries(queries: readonly QueryLine[], options: MeasureOptions): Promise<Measured> {
  const seen = {
    scores: [] as Scores[],
    wholeSets: [] as boolean[],
    confidences: { served: [] as number[], unserved: [] as number[], removed: [] as number[] },
    rankings: [] as Ranking[],
    tokens: [] as number[],
    milliseconds: [] as number[],
  }
  const every = Math.ceil(queries.length / maxCounted)
  const turn = yieldTurns(options.signal)
  for (const [index, { id, query, relevant }] of queries.entries()) {
    await turn()
    const started = performance.now()
    const hits = await options.runQuery(query)
    seen.milliseconds.push(performance.now() - started)
    const results = hits.map((hit) => hit.tool.id)
    seen.rankings.push({ id, results })
    noteConfidence(seen.confidences, hits, relevant)
    if (relevant.length > 0) {
      seen.scores.push(scoreRanking(results, relevant))
      seen.wholeSets.push(relevant.every((id) => results.slice(0, 5).includes(id)))
    }
    if (index % every === 0) {
      await turn()
      seen.tokens.push(options.countTokens(answerText(hits)))
    }
    options.onQuery()
  }
  return seen
}

/** A loaded engine with one query done, because loading is not part of the latency. */
export function createQueryRunner({ tools }: EvalSet, { mode, limit, loadEmbedder, learn }: AskOptions): Ask {
  const engine = new SearchEngine(loadEmbedder)
  for (const tool of tools) engine.add(tool)
  const past = learn.length === 0 ? undefined : new PastQueries(loadEmbedder())
  for (const { query, relevant } of learn) {
    const known = relevant.filter((id) => engine.get(id) !== undefined)
    if (known.length > 0) past?.add(query, known)
  }
  const runQuery = (query: string) => engine.search({ query, mode, limit, learned: past?.votes(query) }).hits
  runQuery('warm up')
  return runQuery
}

const answerText = (hits: readonly AskedHit[]): string =>
  JSON.stringify(
    hits.map(({ tool }) => ({ name: tool.name, shortDescription: cutText(tool.description, maxShortDescription) })),
  )

/** The scores of one ranking, or the means of many. */
export interface Scores {
  readonly recall1: number
  readonly recall5: number
  readonly recall10: number
  readonly ndcg10: number
  readonly mrr: number
  /** Whether the first result is relevant. */
  readonly hit1: number
}

/** Scores a ranking, best first, by its relevant ids; each score is from 0 to 1. */
export function scoreRanking(results: readonly string[], relevant: readonly string[]): Scores {
  const gold = new Set(relevant)
  const got = [...new Set(results)]
  const first = got.findIndex((id) => gold.has(id))
  return {
    recall1: recallAt(1, got, gold),
    recall5: recallAt(5, got, gold),
    recall10: recallAt(10, got, gold),
    ndcg10: gainOf(got.slice(0, 10).map((id) => gold.has(id))) / gainOf(Array(Math.min(10, gold.size)).fill(true)),
    mrr: first < 0 ? 0 : 1 / (first + 1),
    hit1: first === 0 ? 1 : 0,
  }
}

const recallAt = (depth: number, got: readonly string[], gold: ReadonlySet<string>): number =>
  got.slice(0, depth).filter((id) => gold.has(id)).length / gold.size

/** Discounted gain: a relevant result counts less the lower its rank. */
const gainOf = (right: readonly boolean[]): number =>
  right.reduce((sum, isRight, rank) => sum + (isRight ? 1 / Math.log2(rank + 2) : 0), 0)
