// Scripts written without spaces: their words are found by pairs of characters.
const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u

/** The words of a text in lower case: identifiers are taken apart at underscores, dashes, capital letters and digits. */
export function splitIdentifiers(text: string): readonly string[] {
  return splitAscii(text) ?? splitUnicode(text)
}

/** The same for any script. */
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

export const [gap, lower, upper, digit] = [0, 1, 2, 3] as const
/** What each plain character is. */
export const classes = Uint8Array.from({ length: 128 }, (_, code) => {
  if (code >= 97 && code <= 122) return lower
  if (code >= 65 && code <= 90) return upper
  return code >= 48 && code <= 57 ? digit : gap
})

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
    } else if (last !== gap && breaksBefore(text, index, last, kind)) {
      cut(index)
      start = index
    }
    if (kind === upper) capitals = true
    last = kind
  }
  cut(text.length)
  return words
}

/** `aB`, `a1`, `1a`, `1A`, and the last capital of `ABc`. */
function breaksBefore(text: string, index: number, last: number, kind: number): boolean {
  if (kind === digit || last === digit) return kind !== last
  if (kind !== upper) return false
  return last === lower || (last === upper && classes[text.charCodeAt(index + 1)] === lower)
}
