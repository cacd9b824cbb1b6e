// The vectors of words and of texts: an encoder's table of rows of 8-bit numbers, and sums of its rows.
import { addWord, finishTool, hasWords, matchWord, startMatches, startTool } from './matches'
import { reserve, stretch, take } from './memory'
import { sumColumns } from './sums'
import { findWord, vocabularyBytes } from './vocabulary'

export { indexWords, wordsAt } from './vocabulary'

const mostFields: usize = 8
const unknown: i32 = -1

let dim: i32 = 0
let words: i32 = 0
let rows: usize = 0
/** The scale of each row, then what it counts in a query, then in a tool. */
let scales: usize = 0
let queryWeights: usize = 0
let toolWeights: usize = 0
/** The row of each word of the texts, -1 for one without. */
let rowRoom: i32 = 1 << 16
let rowOf = take(<usize>rowRoom << 2)
/** Letters of words to be looked up, and where each word ends. */
let letterRoom: i32 = 1 << 19
let letters = take(letterRoom)
/** Codes as in text-index, put here to be read; for many tools, before them where those of each end. */
let codeRoom: i32 = 1 << 17
let codes = take(<usize>codeRoom << 2)
/** The field of the encoder for each field of a tool, and its weight; how many words it has, then what each counts. */
export const fieldOf = take(mostFields << 2)
export const fieldWeights = take(mostFields << 2)
const counts = take(mostFields << 2)
/** Row number and weight of each word with a vector. */
const pickBytes: usize = 8
let pickRoom: i32 = 1 << 12
let picks = take(<usize>pickRoom * pickBytes)
let pickCount: i32 = 0
let sum: usize = 0
/** The vectors of many tools, as rows of 8-bit numbers. */
let toolRoom: i32 = 0
let toolRows: usize = 0
/** A number of a unit vector as 8 bits. */
const rowScale: f64 = 127
/** The largest weight, and the largest sum of weights, that a sum of cells has room for. */
const mostWeight: f32 = 32767
const mostSum: f32 = 16_000_000

/** Room for what tools need, beyond the encoder. */
const spareBytes: usize = 1 << 20

export function open(columns: i32, count: i32, bytes: i32): void {
  dim = columns
  words = count
  reserve(<usize>words * <usize>(columns + 12) + vocabularyBytes(bytes, words) + spareBytes)
  rows = take(<usize>words * columns)
  scales = take(<usize>words * 12)
  queryWeights = scales + (<usize>words << 2)
  toolWeights = queryWeights + (<usize>words << 2)
  sum = take(<usize>columns << 2)
}

/** The scale of each row becomes part of its weights. */
export function scaleWeights(words: i32): void {
  for (let at: usize = 0; at < <usize>words << 2; at += 4) {
    const scale = load<f32>(scales + at)
    store<f32>(queryWeights + at, load<f32>(queryWeights + at) * scale)
    store<f32>(toolWeights + at, load<f32>(toolWeights + at) * scale)
  }
}

export function rowsAt(): usize {
  return rows
}
export function numbersAt(): usize {
  return scales
}
export function sumAt(): usize {
  return sum
}

export function codesAt(count: i32): usize {
  if (count > codeRoom) {
    codeRoom = count * 2
    codes = take(<usize>codeRoom << 2)
  }
  return codes
}

export function lettersAt(bytes: i32): usize {
  if (bytes > letterRoom) {
    letterRoom = bytes * 2
    letters = take(letterRoom)
  }
  return letters
}

/** Finds the rows of the words from number `first` on; the codes say where each one ends. */
export function findRows(first: i32, count: i32): void {
  if (first + count > rowRoom) {
    const room = (first + count) * 2
    rowOf = stretch(rowOf, <usize>rowRoom << 2, <usize>room << 2)
    rowRoom = room
  }
  let start: i32 = 0
  for (let index = 0; index < count; index++) {
    const end = load<i32>(codes + (<usize>index << 2))
    store<i32>(rowOf + (<usize>(first + index) << 2), findWord(letters + start, end - start))
    start = end
  }
}

/** The row of one word; -1 for one without. */
export function rowOfWord(length: i32): i32 {
  return findWord(letters, length)
}

/** Sums up words by their weight in a query; the codes say where each one ends. False where none has a vector. */
export function sumQuery(count: i32): bool {
  pickCount = 0
  let start: i32 = 0
  for (let index = 0; index < count; index++) {
    const end = load<i32>(codes + (<usize>index << 2))
    const row = findWord(letters + start, end - start)
    if (row !== unknown) pick(row, load<f32>(queryWeights + (<usize>row << 2)))
    start = end
  }
  return sumPicks()
}

/** Takes the words of a query to be compared with those of tools; false where none has a vector. */
export function openMatches(count: i32): bool {
  startMatches(dim, words)
  let start: i32 = 0
  for (let index = 0; index < count; index++) {
    const end = load<i32>(codes + (<usize>index << 2))
    const row = findWord(letters + start, end - start)
    const at = <usize>row << 2
    if (row !== unknown) addWord(rows, row, load<f32>(queryWeights + at) / load<f32>(scales + at))
    start = end
  }
  return hasWords()
}

/** How near the words of a tool are to those of the query, and the other way round; see matches.ts. */
export function matchTool(count: i32): usize {
  startTool()
  for (let next = codes; next < codes + (<usize>count << 2); next += 4) {
    const code = load<i32>(next)
    const row = rowIn(code)
    const at = <usize>row << 2
    if (row !== unknown) matchWord(rows, row, fieldIn(code) >> 2, load<f32>(toolWeights + at) / load<f32>(scales + at))
  }
  return finishTool()
}

/** Sums up the words of one tool. */
export function sumTool(count: i32): bool {
  return sumCodes(codes, count)
}

/** Sums up the words of many tools, each into a row; one of zeros where none of the words has a vector. */
export function sumTools(tools: i32): usize {
  if (tools > toolRoom) {
    toolRoom = tools
    toolRows = take(<usize>tools * <usize>dim)
  }
  const first = codes + (<usize>tools << 2)
  let start: i32 = 0
  for (let tool = 0; tool < tools; tool++) {
    const end = load<i32>(codes + (<usize>tool << 2))
    const row = toolRows + <usize>tool * <usize>dim
    if (sumCodes(first + (<usize>start << 2), end - start)) writeRow(row)
    else memory.fill(row, 0, dim)
    start = end
  }
  return toolRows
}

/** Rounded as VectorTable does: in 64 bits, half up. */
function writeRow(row: usize): void {
  for (let column: usize = 0; column < <usize>dim; column += 4) {
    const cells = v128.load(sum + (column << 2))
    const low = rounded(cells)
    const high = rounded(v128.shuffle<i32>(cells, cells, 2, 3, 2, 3))
    const four = i32x4.sub(v128.shuffle<i64>(low, high, 0, 2), i32x4.splat(128))
    const eight = i16x8.narrow_i32x4_s(four, four)
    store<i32>(row + column, i32x4.extract_lane(i8x16.narrow_i16x8_s(eight, eight), 0))
  }
}

// @ts-ignore: decorator
@inline
function rounded(cells: v128): v128 {
  const wide = f64x2.add(f64x2.mul(f64x2.promote_low_f32x4(cells), f64x2.splat(rowScale)), f64x2.splat(128.5))
  return i32x4.trunc_sat_f64x2_s_zero(wide)
}

/** Each field counts by its weight and the root of its length. */
function sumCodes(codes: usize, count: i32): bool {
  memory.fill(counts, 0, mostFields << 2)
  pickCount = 0
  reservePicks(count)
  let pick = picks
  for (let at = codes; at < codes + (<usize>count << 2); at += 4) {
    const code = load<i32>(at)
    const row = rowIn(code)
    if (row === unknown) continue
    const field = fieldIn(code)
    store<i32>(counts + field, load<i32>(counts + field) + 1)
    store<i32>(pick, row)
    store<i32>(pick, <i32>field, 4)
    pick += pickBytes
  }
  pickCount = <i32>((pick - picks) / pickBytes)
  for (let field: usize = 0; field < mostFields << 2; field += 4)
    store<f32>(counts + field, load<f32>(fieldWeights + field) / sqrt<f32>(<f32>load<i32>(counts + field)))
  for (let at = picks; at < pick; at += pickBytes)
    store<f32>(at, load<f32>(counts + load<i32>(at, 4)) * load<f32>(toolWeights + (<usize>load<i32>(at) << 2)), 4)
  return sumPicks()
}

// @ts-ignore: decorator
@inline
function rowIn(code: i32): i32 {
  return load<i32>(rowOf + (<usize>(code & 0xffffff) << 2))
}
// @ts-ignore: decorator
@inline
function fieldIn(code: i32): usize {
  return <usize>load<i32>(fieldOf + (<usize>((code >> 24) & 7) << 2)) << 2
}

function pick(row: i32, weight: f32): void {
  reservePicks(pickCount + 1)
  const at = picks + <usize>pickCount * pickBytes
  store<i32>(at, row)
  store<f32>(at, weight, 4)
  pickCount++
}

/** Room for so many picks and one more, since they are read two at a time. */
function reservePicks(count: i32): void {
  if (count < pickRoom) return
  const room = max(count + 1, pickRoom << 1)
  picks = stretch(picks, <usize>pickRoom * pickBytes, <usize>room * pickBytes)
  pickRoom = room
}

/** The sum of all picks, made one long; false where nothing is left of it. */
function sumPicks(): bool {
  roundWeights()
  let squares = f32x4.splat(0)
  for (let column: usize = 0; column < <usize>dim; column += 32) {
    const out = sum + (column << 2)
    squares = f32x4.add(squares, sumColumns(picks, picks + (<usize>pickCount << 3), rows + column, dim, out))
  }
  const length: f32 = sqrt<f32>(
    f32x4.extract_lane(squares, 0) + f32x4.extract_lane(squares, 1) + f32x4.extract_lane(squares, 2) + f32x4.extract_lane(squares, 3),
  )
  if (length < 0.5) return false
  const scale = f32x4.splat(1 / length)
  for (let at = sum; at < sum + (<usize>dim << 2); at += 16) v128.store(at, f32x4.mul(v128.load(at), scale))
  return true
}

/**
 * Weights as whole numbers of 16 bits, small enough that no sum leaves 32 bits: what they are of each other is all that counts.
 * Two picks are always read together, so there is an even number of them.
 */
function roundWeights(): void {
  let most: f32 = 0
  let all: f32 = 0
  for (let at = picks; at < picks + (<usize>pickCount << 3); at += 8) {
    const weight = abs<f32>(load<f32>(at, 4))
    most = max<f32>(most, weight)
    all += weight
  }
  const scale = most > 0 ? min<f32>(mostWeight / most, mostSum / all) : 0
  for (let at = picks; at < picks + (<usize>pickCount << 3); at += 8) store<i32>(at, <i32>nearest<f32>(load<f32>(at, 4) * scale), 4)
  if ((pickCount & 1) !== 0) pick(0, 0)
}
