// The vectors of words and of texts: an encoder's table of rows of 8-bit numbers, and sums of its rows.
import { stretch, take } from './memory'
import { findWord } from './vocabulary'

export { indexWords, wordsAt } from './vocabulary'

const mostFields = 8
const unknown: i32 = -1

let dim: i32 = 0
let rows: usize = 0
/** What each row counts in a query and in a tool. */
let queryWeights: usize = 0
let toolWeights: usize = 0
/** The row of each word of the texts, -1 for one without. */
let rowRoom: i32 = 1 << 13
let rowOf = take(<usize>rowRoom << 2)
/** Letters of words to be looked up, and where each word ends. */
let letterRoom: i32 = 1 << 16
let letters = take(letterRoom)
/** Codes as in text-index, put here to be read. */
let codeRoom: i32 = 1 << 12
let codes = take(<usize>codeRoom << 2)
/** The field of the encoder for each field of a tool, and its weight. */
export const fieldOf = take(mostFields << 2)
export const fieldWeights = take(mostFields << 2)
const counts = take(mostFields << 2)
/** Row number and weight of each word with a vector. */
let pickRoom: i32 = 1 << 12
let picks = take(<usize>pickRoom << 3)
let pickCount: i32 = 0
let sum: usize = 0

export function open(columns: i32, words: i32): void {
  dim = columns
  rows = take(<usize>words * columns)
  queryWeights = take(<usize>words << 2)
  toolWeights = take(<usize>words << 2)
  sum = take(<usize>columns << 2)
}

export function rowsAt(): usize {
  return rows
}
export function queryWeightsAt(): usize {
  return queryWeights
}
export function toolWeightsAt(): usize {
  return toolWeights
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

/** Sums up the words of a tool, each field by its weight and the root of its length. */
export function sumTool(count: i32): bool {
  memory.fill(counts, 0, mostFields << 2)
  for (let index = 0; index < count; index++) {
    const code = load<i32>(codes + (<usize>index << 2))
    if (rowIn(code) === unknown) continue
    const field = fieldIn(code)
    store<i32>(counts + field, load<i32>(counts + field) + 1)
  }
  pickCount = 0
  for (let index = 0; index < count; index++) {
    const code = load<i32>(codes + (<usize>index << 2))
    const row = rowIn(code)
    if (row === unknown) continue
    const field = fieldIn(code)
    const factor = load<f32>(fieldWeights + field) / sqrt<f32>(<f32>load<i32>(counts + field))
    pick(row, factor * load<f32>(toolWeights + (<usize>row << 2)))
  }
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
  if (pickCount === pickRoom) {
    picks = stretch(picks, <usize>pickRoom << 3, <usize>pickRoom << 4)
    pickRoom <<= 1
  }
  const at = picks + (<usize>pickCount << 3)
  store<i32>(at, row)
  store<f32>(at, weight, 4)
  pickCount++
}

/** Sixteen columns over all picks before the next sixteen, then made one long; each step is rounded alike everywhere. */
function sumPicks(): bool {
  let squares = f32x4.splat(0)
  const end = picks + (<usize>pickCount << 3)
  for (let column: usize = 0; column < <usize>dim; column += 16) {
    let a = f32x4.splat(0)
    let b = f32x4.splat(0)
    let c = f32x4.splat(0)
    let d = f32x4.splat(0)
    for (let at = picks; at < end; at += 8) {
      const weight = v128.load32_splat(at, 4)
      const row = v128.load(rows + <usize>load<i32>(at) * <usize>dim + column)
      const low = i16x8.extend_low_i8x16_s(row)
      const high = i16x8.extend_high_i8x16_s(row)
      a = f32x4.add(a, f32x4.mul(weight, f32x4.convert_i32x4_s(i32x4.extend_low_i16x8_s(low))))
      b = f32x4.add(b, f32x4.mul(weight, f32x4.convert_i32x4_s(i32x4.extend_high_i16x8_s(low))))
      c = f32x4.add(c, f32x4.mul(weight, f32x4.convert_i32x4_s(i32x4.extend_low_i16x8_s(high))))
      d = f32x4.add(d, f32x4.mul(weight, f32x4.convert_i32x4_s(i32x4.extend_high_i16x8_s(high))))
    }
    const out = sum + (column << 2)
    v128.store(out, a)
    v128.store(out, b, 16)
    v128.store(out, c, 32)
    v128.store(out, d, 48)
    squares = f32x4.add(squares, f32x4.add(f32x4.add(f32x4.mul(a, a), f32x4.mul(b, b)), f32x4.add(f32x4.mul(c, c), f32x4.mul(d, d))))
  }
  const length: f32 = sqrt<f32>(
    f32x4.extract_lane(squares, 0) + f32x4.extract_lane(squares, 1) + f32x4.extract_lane(squares, 2) + f32x4.extract_lane(squares, 3),
  )
  if (length < 1e-9) return false
  const scale = f32x4.splat(1 / length)
  for (let at = sum; at < sum + (<usize>dim << 2); at += 16) v128.store(at, f32x4.mul(v128.load(at), scale))
  return true
}
