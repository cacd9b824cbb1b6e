// Scripts written without spaces: their words are found by pairs of characters.
const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u

/** The words of a text in lower case: identifiers are taken apart at underscores, dashes, capital letters and digits. */
export function splitIdentifiers(text: string): readonly string[] {
  return splitAscii(text) ?? splitAny(text)
}

/** What words are, of any script, written down as it is defined. */
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
/** What each plain character is. */
const classes = Uint8Array.from({ length: 128 }, (_, code) => {
  if (code >= 97 && code <= 122) return lower
  if (code >= 65 && code <= 90) return upper
  return code >= 48 && code <= 57 ? digit : gap
})
/** What any other character is: the first that fits. */
const kinds = [
  [/\p{Lo}/u, letter],
  [/\p{Ll}/u, lower],
  [/\p{Lu}/u, upper],
  [/\p{M}/u, mark],
  [/\p{N}/u, digit],
  [/\p{L}/u, letter],
] as const
// Its small form depends on what is around it.
const sigma = 'Σ'

/** One walk over a plain text; undefined where a character is not ASCII. Most texts are, and this is ten times as fast. */
function splitAscii(text: string): readonly string[] | undefined {
  const words: string[] = []
  let start = 0
  let last: number = gap
  let capitals = false
  const cut = (end: number): void => {
    if (end > start) words.push(capitals ? text.slice(start, end).toLowerCase() : text.slice(start, end))
    capitals = false
  }
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code > 127) return undefined
    const kind = classes[code] as number
    if (kind === gap) {
      cut(index)
      start = index + 1
    } else if (last !== gap && breaksBefore(last, kind, classes[text.charCodeAt(index + 1)])) {
      cut(index)
      start = index
    }
    if (kind === upper) capitals = true
    last = kind
  }
  cut(text.length)
  return words
}

/** The same walk for any script. */
function splitAny(text: string): readonly string[] {
  if (text.includes(sigma)) return splitUnicode(text)
  const characters = Array.from(text)
  const found = characters.map(kindOf)
  const words: string[] = []
  let word = ''
  for (const [index, kind] of found.entries()) {
    const last = index === 0 ? gap : (found[index - 1] as number)
    if (word !== '' && (kind === gap || breaksBefore(last, kind, found[index + 1]))) {
      words.push(word.toLowerCase())
      word = ''
    }
    if (kind !== gap) word += characters[index]
  }
  if (word !== '') words.push(word.toLowerCase())
  return unspaced.test(text) ? words.flatMap(toPairs) : words
}

function kindOf(character: string): number {
  const code = character.codePointAt(0) as number
  return code < 128 ? (classes[code] as number) : (kinds.find(([pattern]) => pattern.test(character))?.[1] ?? gap)
}

/** `aB`, `a1`, `1a`, `1A`, and the last capital of `ABc`. */
function breaksBefore(last: number, kind: number, next: number | undefined): boolean {
  if (last === mark || kind === mark) return false
  if (kind === digit || last === digit) return kind !== last
  if (kind !== upper) return false
  return last === lower || (last === upper && next === lower)
}
