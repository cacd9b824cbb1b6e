import { SubstringIndex } from '../base/substring-index.ts'
import type { RankedTool, Ranker, SearchDoc } from '../contract/search.ts'

/** The score of a literal match, by its location. */
const worth = { name: 100, wholeName: 50, namespace: 50, text: 10, nothing: 1 } as const

/** Ranks tools by the location of a literal match, then by id; a blank query matches all equally. */
export function createSubstringRanker(docs: () => readonly SearchDoc[]): Ranker {
  let indexed: readonly SearchDoc[] | undefined
  let index: SubstringIndex<SearchDoc> | undefined
  const find = (wanted: string, accept: (doc: SearchDoc) => boolean) => {
    const present = docs()
    if (wanted === '') return present.filter(accept)
    if (index === undefined || indexed !== present) index = new SubstringIndex(present, (doc) => doc.docText)
    indexed = present
    return index.find(wanted, Number.POSITIVE_INFINITY, accept)
  }
  return {
    search({ query, offset, limit, accept = () => true }) {
      const wanted = query.trim().toLowerCase()
      const hits = find(wanted, accept).map((doc): RankedTool => {
        return { tool: doc, score: wanted === '' ? worth.nothing : scoreOf(doc, wanted), scoreType: 'substring' }
      })
      // The documents are sorted by id, and sorting is stable.
      hits.sort((a, b) => b.score - a.score)
      return { hits: hits.slice(offset, offset + limit), total: hits.length }
    },
  }
}

function scoreOf({ summary }: SearchDoc, wanted: string): number {
  const name = summary.name.toLowerCase()
  const score =
    (name.includes(wanted) ? worth.name : 0) +
    (name === wanted ? worth.wholeName : 0) +
    (summary.namespace?.toLowerCase().includes(wanted) ? worth.namespace : 0)
  return score === 0 ? worth.text : score
}
