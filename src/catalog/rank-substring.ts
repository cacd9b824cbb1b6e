import type { RankedId, SearchDoc } from '../contract/summary.ts'

/** What a literal match is worth, by where it is found. */
const worth = { name: 100, wholeName: 50, namespace: 50, text: 10 } as const

/** Ranks tools by where the query occurs in them as it is; a blank one fits all alike. */
export function rankSubstring(query: string, docs: readonly SearchDoc[]): RankedId[] {
  const wanted = query.trim().toLowerCase()
  // Names and namespaces are part of the text.
  const found = docs.filter(({ docText }) => docText.includes(wanted))
  return found.map((doc) => ({ id: doc.id, score: wanted === '' ? 0 : scoreOf(doc, wanted), scoreType: 'substring' }))
}

function scoreOf({ summary }: SearchDoc, wanted: string): number {
  const name = summary.name.toLowerCase()
  const score =
    (name.includes(wanted) ? worth.name : 0) +
    (name === wanted ? worth.wholeName : 0) +
    (summary.namespace?.toLowerCase().includes(wanted) ? worth.namespace : 0)
  return score === 0 ? worth.text : score
}
