import type { Explanation, SearchableTool } from '../contract/search.ts'
import type { QueryTerm } from './lexical-index.ts'
import { type Tokenizer, termsOf } from './tokenize.ts'
import { toolFields } from './tool-fields.ts'

interface HitParts {
  readonly tool: SearchableTool
  /** The query after the replacement of words that no tool has. */
  readonly readAs: string | undefined
  readonly terms: readonly QueryTerm[]
  readonly scoreOf: (term: QueryTerm) => number
  readonly nameCoverage: number
  readonly tokenizer: Tokenizer
  readonly exactName: boolean
  readonly embedding: number
  readonly learned: number
  readonly embeddingWeight: number
}

/** Decomposes a score: matched words with their fields, the share of each signal, and their sum. */
export function explainHit(parts: HitParts): Explanation {
  const locations = new Map<string, Set<string>>()
  for (const { field, text } of toolFields(parts.tool)) {
    const words = termsOf(parts.tokenizer, text)
    const found = [...words, ...words.slice(1).map((word, index) => `${words[index]} ${word}`)]
    for (const word of found) locations.set(word, (locations.get(word) ?? new Set()).add(field))
  }
  const terms = parts.terms
    .map((term) => ({
      term: term.term,
      fields: [...(locations.get(term.term) ?? [])],
      score: round(parts.scoreOf(term)),
    }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
  const words = round(terms.reduce((sum, { score }) => sum + score, 0))
  const [nameCoverage, embedding, learned] = [parts.nameCoverage, parts.embedding, parts.learned].map(round) as [
    number,
    number,
    number,
  ]
  const sum = round(words + nameCoverage + parts.embeddingWeight * embedding + learned)
  const formula = `${words} words + ${nameCoverage} name + ${parts.embeddingWeight} x ${embedding} meaning + ${learned} learned = ${sum}`
  return {
    ...(parts.readAs !== undefined && { readAs: parts.readAs }),
    terms,
    signals: { exactName: parts.exactName, bm25: words, nameCoverage, embedding, learned },
    formula: parts.exactName ? `the exact name comes first; else ${formula}` : formula,
  }
}

const round = (value: number): number => Math.round(value * 1000) / 1000

/** The features of one result. */
interface Evidence {
  readonly bm25: number
  /** Standard deviations above the mean of the catalog. */
  readonly embedding: number
  /** The score of a tool that contains every word of the query. */
  readonly ideal: number
  /** The share of the tool's name that is in the query. */
  readonly name: number
}

// Fitted on public sets: queries against the catalog with their relevant tools, and against catalogs without.
const weights = { base: -3.087, share: 4.134, embedding: 0.182, name: 1.34 }

/** The probability that a result is relevant, from 0 to 1, which allows a threshold for "no tool fits". */
export function confidenceOf({ bm25, embedding, ideal, name }: Evidence): number {
  const share = ideal > 0 ? Math.min(bm25 / ideal, 1) : 0
  const logit = weights.base + weights.share * share + weights.embedding * embedding + weights.name * name
  return Math.round(1000 / (1 + Math.exp(-logit))) / 1000
}
