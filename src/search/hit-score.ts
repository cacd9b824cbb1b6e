import type { Explanation, SearchableTool } from '../contract/search.ts'
import { type Evidence, featuresOf } from './confidence.ts'
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
  readonly evidence: Evidence | undefined
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
    ...(parts.evidence !== undefined && !parts.exactName && { evidence: evidenceOf(parts.evidence) }),
  }
}

const round = (value: number): number => Math.round(value * 1000) / 1000

const evidenceOf = (evidence: Evidence): Record<string, number> =>
  Object.fromEntries(Object.entries(featuresOf(evidence)).map(([name, value]) => [name, round(value)]))
