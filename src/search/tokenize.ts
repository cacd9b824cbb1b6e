import { BoundedMap } from '../base/bounded-map.ts'

/** Converts a text to index terms. */
export interface Tokenizer {
  /** The words of a text, in lower case. */
  words(text: string): readonly string[]
  /** The index term of a word; undefined for a stop word. */
  term(word: string): string | undefined
  /** Set if kernels/words.ts and kernels/stem.ts implement the same, which is many times as fast. */
  readonly isBuiltIn?: true
}

/** A tokenizer for names and English sentences with a cache of stems; words of other languages are unchanged. */
export function createTokenizer(): Tokenizer {
  const stems = new BoundedMap<string, string>(maxRemembered)
  return {
    isBuiltIn: true,
    words: splitIdentifiers,
    term(word) {
      if (stopWords.has(word)) return undefined
      const known = stems.get(word)
      if (known !== undefined) return known
      const term = stem(word)
      stems.set(word, term)
      return term
    },
  }
}

/** The maximum number of words of a query. */
const maxQueryWords = 64

/** A query truncated to its first words: ranking takes time for each word and tool. */
export function firstWords(query: string): string {
  const words = splitIdentifiers(query.slice(0, maxQueryCharacters))
  return words.length <= maxQueryWords ? query : words.slice(0, maxQueryWords).join(' ')
}

/** Longer than any name of a tool and any sentence of that many words. */
export const maxQueryCharacters = 8000

const maxRemembered = 100_000

/** The terms of a text, in order. */
export function termsOf(tokenizer: Tokenizer, text: string): readonly string[] {
  const terms: string[] = []
  for (const word of tokenizer.words(text)) {
    const term = tokenizer.term(word)
    if (term !== undefined) terms.push(term)
  }
  return terms
}

const words = `a an the of in on at to for from by with and or is are was were be been being am do does did doing have has had
having i me my mine we our ours us you your yours he him his she her it its they them their this that these those what which
who whom whose when where why how can could will would shall should may might must not no nor so if then than too very just
about into over under again further once here there all any both each few more most other some such only own same s t d ll m
re ve please`

/** Words that carry no information about a tool. */
export const stopWords: ReadonlySet<string> = new Set(words.split(/\s+/))

// Porter's algorithm: endings are taken off step by step while enough of the word is left. The measure of a word is how often
// a vowel is followed by a consonant in it.
const vowel = /[aeiouy]/
const shortEnd = /[^aeiouy][aeiouy][^aeiouywx]$/

const longEndings: readonly (readonly [string, string])[] = [
  ['ational', 'ate'],
  ['tional', 'tion'],
  ['enci', 'ence'],
  ['anci', 'ance'],
  ['izer', 'ize'],
  ['abli', 'able'],
  ['alli', 'al'],
  ['entli', 'ent'],
  ['eli', 'e'],
  ['ousli', 'ous'],
  ['ization', 'ize'],
  ['ation', 'ate'],
  ['ator', 'ate'],
  ['alism', 'al'],
  ['iveness', 'ive'],
  ['fulness', 'ful'],
  ['ousness', 'ous'],
  ['aliti', 'al'],
  ['iviti', 'ive'],
  ['biliti', 'ble'],
]
const middleEndings: readonly (readonly [string, string])[] = [
  ['icate', 'ic'],
  ['ative', ''],
  ['alize', 'al'],
  ['iciti', 'ic'],
  ['ical', 'ic'],
  ['ful', ''],
  ['ness', ''],
]
const lastEndings = [
  'al',
  'ance',
  'ence',
  'er',
  'ic',
  'able',
  'ible',
  'ant',
  'ement',
  'ment',
  'ent',
  'ion',
  'ou',
  'ism',
  'ate',
  'iti',
  'ous',
  'ive',
  'ize',
]

/** The stem of an English word in lower case, so that `commits`, `committed` and `committing` meet; other words stay. */
export function stem(word: string): string {
  if (word.length <= 2 || !/^[a-z]+$/.test(word)) return word
  let rest = withoutPast(withoutPlural(word))
  if (rest.length > 2 && rest.endsWith('y') && vowel.test(rest.slice(0, -1))) rest = `${rest.slice(0, -1)}i`
  rest = replaceEnding(replaceEnding(rest, longEndings), middleEndings)
  return withoutFinalE(withoutLast(rest))
}

function withoutPlural(word: string): string {
  if (word.endsWith('sses')) return word.slice(0, -2)
  if (word.endsWith('ies')) return `${word.slice(0, -3)}${word.length > 4 ? 'i' : 'ie'}`
  if (word.endsWith('ss') || word.endsWith('us') || !word.endsWith('s')) return word
  return vowel.test(word.slice(0, -2)) ? word.slice(0, -1) : word
}

function withoutPast(word: string): string {
  if (word.endsWith('eed')) return measure(word.slice(0, -3)) > 0 ? word.slice(0, -1) : word
  const ending = ['ed', 'ing'].find((end) => word.endsWith(end) && vowel.test(word.slice(0, -end.length)))
  if (ending === undefined) return word
  const rest = word.slice(0, -ending.length)
  if (/(at|bl|iz)$/.test(rest)) return `${rest}e`
  if (/([^aeiouylsz])\1$/.test(rest)) return rest.slice(0, -1)
  return measure(rest) === 1 && shortEnd.test(rest) ? `${rest}e` : rest
}

function replaceEnding(word: string, endings: readonly (readonly [string, string])[]): string {
  const found = endings.find(([end]) => word.endsWith(end))
  if (found === undefined) return word
  const rest = word.slice(0, -found[0].length)
  return measure(rest) > 0 ? rest + found[1] : word
}

function withoutLast(word: string): string {
  const ending = lastEndings.find((end) => word.endsWith(end))
  if (ending === undefined) return word
  const rest = word.slice(0, -ending.length)
  return measure(rest) > 1 && (ending !== 'ion' || /[st]$/.test(rest)) ? rest : word
}

function withoutFinalE(word: string): string {
  let rest = word
  if (word.endsWith('e')) {
    const cut = word.slice(0, -1)
    if (measure(cut) > 1 || (measure(cut) === 1 && !shortEnd.test(cut))) rest = cut
  }
  return rest.endsWith('ll') && measure(rest) > 1 ? rest.slice(0, -1) : rest
}

function measure(word: string): number {
  return word.match(/[aeiouy]+[^aeiouy]+/g)?.length ?? 0
}

// Scripts written without spaces: their words are found by pairs of characters.
const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u

/** The words of a text in lower case: identifiers are split at underscores, dashes, capital letters and digits. */
export function splitIdentifiers(text: string): readonly string[] {
  return text.includes(sigma) ? splitUnicode(text) : split(text)
}

/** The definition of words in any script, as a regular expression. */
export function splitUnicode(text: string): readonly string[] {
  const words = text
    .replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
    .replace(/(\p{L})(\p{N})/gu, '$1 $2')
    .replace(/(\p{N})(\p{L})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}\p{M}]+/u)
    .filter((word) => word !== '')
  return unspaced.test(text) ? words.flatMap(toPairs) : words
}

function toPairs(word: string): readonly string[] {
  const characters = Array.from(word)
  if (characters.length < 3 || !unspaced.test(word)) return [word]
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`)
}

const [gap, lower, upper, digit, letter, mark] = [0, 1, 2, 3, 4, 5] as const
/** Flags of a character beside its class: a script without spaces, a lower-case form, two code units. */
const [packed, capital, wide] = [8, 16, 5] as const
const kindMask = 7
const unknown = 255
/** The classes of characters: the first match applies. */
const kinds = [
  [/\p{Lo}/u, letter],
  [/\p{Ll}/u, lower],
  [/\p{Lu}/u, upper],
  [/\p{M}/u, mark],
  [/\p{N}/u, digit],
  [/\p{L}/u, letter],
] as const
/** The class of each 16-bit character; those outside ASCII are classified on first use. */
const classes = new Uint8Array(0x1_0000).fill(unknown)
for (let code = 0; code < 128; code++) classes[code] = plainKind(code)
// Its lower-case form depends on the context.
const sigma = 'Σ'

function plainKind(code: number): number {
  if (code >= 97 && code <= 122) return lower
  if (code >= 65 && code <= 90) return upper | capital
  return code >= 48 && code <= 57 ? digit : gap
}

/** The same as the definition, in one pass. */
function split(text: string): readonly string[] {
  const words: string[] = []
  let start = 0
  let last: number = gap
  let seen = 0
  for (let index = 0; index < text.length; ) {
    const found = kindAt(text, index)
    const kind = found & kindMask
    const next = index + (found >> wide) + 1
    if (kind === gap || (last !== gap && breaksBefore(last, kind, text, next))) {
      if (index > start) addWord(words, text.slice(start, index), seen)
      start = kind === gap ? next : index
      seen = 0
    }
    seen |= found
    last = kind
    index = next
  }
  if (text.length > start) addWord(words, text.slice(start), seen)
  return words
}

function addWord(words: string[], written: string, seen: number): void {
  const word = (seen & capital) === 0 ? written : written.toLowerCase()
  if ((seen & packed) === 0) words.push(word)
  else for (const pair of toPairs(word)) words.push(pair)
}

/** The class and flags of the character at a position. */
export function kindAt(text: string, index: number): number {
  const known = classes[text.charCodeAt(index)] as number
  return known === unknown ? lookAt(text, index) : known
}

/** The class of a character; one outside the BMP is classified each time. */
function lookAt(text: string, index: number): number {
  const code = text.codePointAt(index) as number
  if (code >= 0x4e00 && code <= 0x9fff) return letter | packed
  const character = String.fromCodePoint(code)
  const kind = kinds.find(([pattern]) => pattern.test(character))?.[1] ?? gap
  const more = (unspaced.test(character) ? packed : 0) | (character.toLowerCase() === character ? 0 : capital)
  if (code > 0xffff) return kind | more | (1 << wide)
  // A lone surrogate may be part of a pair the next time.
  if (code < 0xd800 || code > 0xdfff) classes[code] = kind | more
  return kind | more
}

/** The boundaries `aB`, `a1`, `1a`, `1A`, and the last capital of `ABc`. */
function breaksBefore(last: number, kind: number, text: string, next: number): boolean {
  if (last === mark || kind === mark) return false
  if (kind === digit || last === digit) return kind !== last
  if (kind !== upper) return false
  return last === lower || (last === upper && next < text.length && (kindAt(text, next) & kindMask) === lower)
}
