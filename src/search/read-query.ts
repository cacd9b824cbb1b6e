import { suggest } from '../base/suggest.ts'
import type { LexicalIndex, TermWeights } from './lexical-index.ts'
import type { Tokenizer } from './tokenize.ts'

/** The weight of a word that stands for an unknown one. */
const correctedWeight = 0.6

/** A query as it is ranked: with corrections, and the weights of its words where they are not 1. */
export interface ReadQuery {
  readonly text: string
  readonly weights: TermWeights
}

/** Reads a query: corrects unknown words, which count less. */
export function readQuery(
  query: string,
  source: { lexical: LexicalIndex; tokenizer: Tokenizer; isWord: (word: string) => boolean },
): ReadQuery {
  const { text, corrected } = forgiveTypos(query, source)
  const weights = new Map(Array.from(corrected, (term) => [term, correctedWeight]))
  return { text, weights }
}

// Finding the intended word scans all words of the catalog, so only short queries and those without results are corrected.
const shortQuery = 3
// More unknown words than this are not typos but another language, or noise.
const maxCorrections = 12

/** A query with its corrections. */
interface CorrectedQuery {
  readonly text: string
  /** The terms that stand for words of the request that neither a tool nor the vocabulary has. */
  readonly corrected: ReadonlySet<string>
}

interface Dictionary {
  readonly lexical: LexicalIndex
  readonly tokenizer: Tokenizer
  /** Whether a word is a word of the language, which is never corrected. */
  readonly isWord: (word: string) => boolean
}

/**
 * The query with unknown words replaced by words of the catalog: a prefix (`forec`), or the nearest spelling (`comit`). A word
 * that the vocabulary knows is not replaced, even if no tool has it.
 */
export function forgiveTypos(text: string, { lexical, tokenizer, isWord }: Dictionary): CorrectedQuery {
  const unchanged = { text, corrected: noTerms }
  const words = tokenizer.words(text)
  const terms = words.map((word) => tokenizer.term(word))
  const content = words.filter((_, index) => terms[index] !== undefined)
  const absent = (word: string, term = '') =>
    term.length >= 3 && !startsWithDigit.test(word) && lexical.countOf(term) === 0
  const unknown = new Set(words.filter((word, index) => absent(word, terms[index])))
  if (unknown.size === 0 || unknown.size > maxCorrections) return unchanged
  if (content.length > shortQuery && unknown.size < new Set(content).size) return unchanged
  const corrected = new Set<string>()
  const read = words.flatMap((word, index) => {
    const term = terms[index]
    if (term === undefined || !unknown.has(word)) return [word]
    const known = isWord(word)
    const meant = known ? findWritten(word, lexical) : findMeant(term, lexical)
    if (meant === undefined) return [word]
    corrected.add(meant)
    return known ? [word, meant] : [meant]
  })
  return corrected.size === 0 ? unchanged : { text: read.join(' '), corrected }
}

const noTerms: ReadonlySet<string> = new Set()
const startsWithDigit = /^\p{N}/u

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

/** `mesg` for message: the same first letter, and the other letters in order. */
function findAbbreviated(word: string, lexical: LexicalIndex): string | undefined {
  if (word.length > 4) return undefined
  const inOrder = new RegExp(`^${Array.from(word, (letter) => letter.replace(/\W/g, '\\$&')).join('.*')}`)
  return mostUsed(lexical, (known) => known.length <= word.length * 4 && inOrder.test(known))
}

/** The word whose consonants a known abbreviation is: `msg` is searched as itself and as `message`. */
function findWritten(word: string, lexical: LexicalIndex): string | undefined {
  if (!/^[^aeiou\W\d]{3,4}$/.test(word)) return undefined
  return mostUsed(lexical, (known) => known[0] === word[0] && known.length > word.length && consonants(known) === word)
}

const consonants = (word: string): string => word.replace(/[aeiou]/g, '').replace(/(.)\1+/g, '$1')

function mostUsed(lexical: LexicalIndex, isMeant: (known: string) => boolean): string | undefined {
  const found: Known[] = []
  for (const each of lexical.vocabulary()) if (each.count > 0 && isMeant(each.known)) found.push(each)
  return found.sort(byUse)[0]?.known
}
