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
