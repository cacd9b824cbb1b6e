// Porter's algorithm, as src/search/tokenize.ts writes it down, on letters where they stand; a test holds the two together.
import { take } from './memory'

/** Endings and what takes their place, in the order in which they are tried. */
const longEndings =
  'ational ate tional tion enci ence anci ance izer ize abli able alli al entli ent eli e ousli ous ization ize ation ate ator ate alism al iveness ive fulness ful ousness ous aliti al iviti ive biliti ble '
const middleEndings = 'icate ic ative - alize al iciti ic ical ic ful - ness - '
const lastEndings = 'al ance ence er ic able ible ant ement ment ent ion ou ism ate iti ous ive ize '

const none: u16 = 45
const space: u16 = 32

/** For each ending its last letter, where it begins in its text and how long it is; then where what takes its place is. */
const rowBytes: usize = 20
const longRows = tabulate(longEndings, true)
const middleRows = tabulate(middleEndings, true)
const lastRows = tabulate(lastEndings, false)

function tabulate(text: string, isPaired: bool): usize {
  const rows = take(<usize>(text.length + 1) * rowBytes)
  let row = rows
  for (let at = 0; at < text.length; row += rowBytes) {
    const length = wordLength(text, at)
    store<i32>(row, charAt(text, at + length - 1))
    store<i32>(row, at, 4)
    store<i32>(row, length, 8)
    at += length + 1
    if (!isPaired) continue
    store<i32>(row, at, 12)
    store<i32>(row, wordLength(text, at), 16)
    at += load<i32>(row, 16) + 1
  }
  return rows
}

let word: usize = 0
let size: i32 = 0

/** Stems a word in place, with room for one more letter after it, and says how long it is then. */
export function stem(start: usize, length: i32): i32 {
  word = start
  size = length
  if (length <= 2 || !isPlain()) return length
  dropPlural()
  dropPast()
  if (size > 2 && ends('y') && hasVowel(size - 1)) put(size - 1, 0x69)
  replaceEnding(longRows, longEndings)
  replaceEnding(middleRows, middleEndings)
  dropLast()
  dropFinalE()
  return size
}

function isPlain(): bool {
  for (let at = 0; at < size; at++) {
    const code = letter(at)
    if (code < 0x61 || code > 0x7a) return false
  }
  return true
}

function dropPlural(): void {
  if (ends('sses')) size -= 2
  else if (ends('ies')) size -= size > 4 ? 2 : 1
  else if (!ends('s') || ends('ss') || ends('us')) return
  else if (hasVowel(size - 2)) size -= 1
}

function dropPast(): void {
  if (ends('eed')) {
    if (measure(size - 3) > 0) size -= 1
    return
  }
  if (ends('ed') && hasVowel(size - 2)) size -= 2
  else if (ends('ing') && hasVowel(size - 3)) size -= 3
  else return
  if (ends('at') || ends('bl') || ends('iz')) addE()
  else if (endsDouble()) size -= 1
  else if (measure(size) === 1 && endsShort(size)) addE()
}

/** The first ending that a word has; its row is all zeros where it has none. */
function findEnding(rows: usize, endings: string): usize {
  const last = <i32>letter(size - 1)
  let row = rows
  for (; load<i32>(row, 8) !== 0; row += rowBytes)
    if (load<i32>(row) === last && endsWith(endings, load<i32>(row, 4), load<i32>(row, 8))) break
  return row
}

function replaceEnding(rows: usize, endings: string): void {
  const row = findEnding(rows, endings)
  const length = load<i32>(row, 8)
  const rest = size - length
  if (length === 0 || measure(rest) === 0) return
  size = rest
  const next = load<i32>(row, 12)
  if (charAt(endings, next) === none) return
  for (let index = 0; index < load<i32>(row, 16); index++) put(size++, <u8>charAt(endings, next + index))
}

function dropLast(): void {
  const length = load<i32>(findEnding(lastRows, lastEndings), 8)
  const rest = size - length
  if (length === 0 || measure(rest) < 2) return
  if (ends('ion') && (rest === 0 || (letter(rest - 1) !== 0x73 && letter(rest - 1) !== 0x74))) return
  size = rest
}

function dropFinalE(): void {
  if (ends('e')) {
    const found = measure(size - 1)
    if (found > 1 || (found === 1 && !endsShort(size - 1))) size -= 1
  }
  if (ends('ll') && measure(size) > 1) size -= 1
}

// @ts-ignore: decorator
@inline
function letter(at: i32): u8 {
  return load<u8>(word + at)
}
// @ts-ignore: decorator
@inline
function put(at: i32, code: u8): void {
  store<u8>(word + at, code)
}
// @ts-ignore: decorator
@inline
function charAt(text: string, at: i32): u16 {
  return load<u16>(changetype<usize>(text) + (<usize>at << 1))
}

function wordLength(text: string, from: i32): i32 {
  let at = from
  while (charAt(text, at) !== space) at++
  return at - from
}

function addE(): void {
  put(size++, 0x65)
}

function ends(ending: string): bool {
  return endsWith(ending, 0, ending.length)
}

function endsWith(text: string, from: i32, length: i32): bool {
  if (length > size) return false
  for (let at = length - 1; at >= 0; at--) if (<u16>letter(size - length + at) !== charAt(text, from + at)) return false
  return true
}

// @ts-ignore: decorator
@inline
function isVowel(at: i32): bool {
  // The bits of a, e, i, o, u and y.
  return ((0x1104111 >> (letter(at) - 0x61)) & 1) !== 0
}

function hasVowel(end: i32): bool {
  for (let at = 0; at < end; at++) if (isVowel(at)) return true
  return false
}

/** How often a vowel is followed by a consonant. */
function measure(end: i32): i32 {
  let count = 0
  for (let at = 1; at < end; at++) if (isVowel(at - 1) && !isVowel(at)) count++
  return count
}

/** A consonant twice, other than l, s and z. */
function endsDouble(): bool {
  if (size < 2 || letter(size - 1) !== letter(size - 2) || isVowel(size - 1)) return false
  const code = letter(size - 1)
  return code !== 0x6c && code !== 0x73 && code !== 0x7a
}

/** A consonant, a vowel, and a consonant other than w and x. */
function endsShort(end: i32): bool {
  if (end < 3 || isVowel(end - 3) || !isVowel(end - 2) || isVowel(end - 1)) return false
  return letter(end - 1) !== 0x77 && letter(end - 1) !== 0x78
}
