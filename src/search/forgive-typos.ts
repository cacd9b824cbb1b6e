import { suggest } from '../base/suggest.ts'
import type { LexicalIndex } from './lexical-index.ts'
import { type Tokenizer, termsOf } from './tokenize.ts'

// Finding the intended word scans all known words, so only short queries and those without results are corrected.
const shortQuery = 3
// More unknown words than this are not typos but another language, or noise.
const maxCorrections = 12

/** The query with unknown words replaced by known ones: a prefix (`repo`), or the nearest spelling (`comit`). */
export function forgiveTypos(text: string, lexical: LexicalIndex, tokenizer: Tokenizer): string | undefined {
  const words = termsOf(tokenizer, text)
  const unknown = new Set(words.filter((word) => lexical.countOf(word) === 0 && word.length >= 3))
  if (unknown.size === 0 || unknown.size > maxCorrections || (words.length > shortQuery && unknown.size < words.length))
    return undefined
  const meant = words.map((word) => (unknown.has(word) ? (findMeant(word, lexical) ?? word) : word))
  return meant.every((word, index) => word === words[index]) ? undefined : meant.join(' ')
}

interface Known {
  readonly known: string
  readonly count: number
}

/** The word with more tools comes first, then the alphabet: the order in which tools were added must not matter. */
const byUse = (a: Known, b: Known): number => b.count - a.count || (a.known < b.known ? -1 : 1)

function findMeant(word: string, lexical: LexicalIndex): string | undefined {
  const alike: Known[] = []
  const longer: Known[] = []
  for (const each of lexical.vocabulary()) {
    const { known, count } = each
    if (count === 0) continue
    if (known.startsWith(word)) longer.push(each)
    if (known[0] === word[0] && Math.abs(known.length - word.length) <= 2) alike.push(each)
  }
  const spelled = alike.sort(byUse).map(({ known }) => known)
  return longer.sort(byUse)[0]?.known ?? suggest(word, spelled) ?? findAbbreviated(word, lexical)
}

/** `msg` for message: the same first letter, and the other letters in order. */
function findAbbreviated(word: string, lexical: LexicalIndex): string | undefined {
  if (word.length > 4) return undefined
  const inOrder = new RegExp(`^${Array.from(word, (letter) => letter.replace(/\W/g, '\\$&')).join('.*')}`)
  const found: Known[] = []
  for (const each of lexical.vocabulary())
    if (each.count > 0 && each.known.length <= word.length * 4 && inOrder.test(each.known)) found.push(each)
  return found.sort(byUse)[0]?.known
}
