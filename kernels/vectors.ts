// The vectors of words and of texts: an encoder's table of rows of 8-bit numbers, and sums of its rows.
import { reserve, stretch, take } from './memory'
import { findWord, vocabularyBytes } from './vocabulary'

export { indexWords, wordsAt } from './vocabulary'

const mostFields = 8
const unknown: i32 = -1

let dim: i32 = 0
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
/** The field of the encoder for each field of a tool, and its weight. */
export const fieldOf = take(mostFields << 2)
export const fieldWeights = take(mostFields << 2)
const counts = take(mostFields << 2)
/** Row number and weight of each word with a vector. */
let pickRoom: i32 = 1 << 12
let picks = take(<usize>pickRoom << 3)
let pickCount: i32 = 0
let sum: usize = 0
/** The vectors of many tools, as rows of 8-bit numbers. */
let toolRoom: i32 = 0
let toolRows: usize = 0
/** A number of a unit vector as 8 bits. */
const rowScale: f64 = 127

/** Room for what tools need, beyond the encoder. */
const spareBytes: usize = 1 << 20

export function open(columns: i32, words: i32, bytes: i32): void {
  dim = columns
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

/** Thirty-two columns over all picks before the next, then made one long; each step is rounded alike everywhere. */
function sumPicks(): bool {
  let squares = f32x4.splat(0)
  const end = picks + (<usize>pickCount << 3)
  for (let column: usize = 0; column < <usize>dim; column += 32) {
    let a = f32x4.splat(0)
    let b = f32x4.splat(0)
    let c = f32x4.splat(0)
    let d = f32x4.splat(0)
    let e = f32x4.splat(0)
    let f = f32x4.splat(0)
    let g = f32x4.splat(0)
    let h = f32x4.splat(0)
    const first = rows + column
    for (let at = picks; at < end; at += 8) {
      const weight = v128.load32_splat(at, 4)
      const row = first + <usize>load<i32>(at) * <usize>dim
      let cells = v128.load8x8_s(row)
      a = f32x4.add(a, f32x4.mul(weight, f32x4.convert_i32x4_s(i32x4.extend_low_i16x8_s(cells))))
      b = f32x4.add(b, f32x4.mul(weight, f32x4.convert_i32x4_s(i32x4.extend_high_i16x8_s(cells))))
      cells = v128.load8x8_s(row, 8)
      c = f32x4.add(c, f32x4.mul(weight, f32x4.convert_i32x4_s(i32x4.extend_low_i16x8_s(cells))))
      d = f32x4.add(d, f32x4.mul(weight, f32x4.convert_i32x4_s(i32x4.extend_high_i16x8_s(cells))))
      cells = v128.load8x8_s(row, 16)
      e = f32x4.add(e, f32x4.mul(weight, f32x4.convert_i32x4_s(i32x4.extend_low_i16x8_s(cells))))
      f = f32x4.add(f, f32x4.mul(weight, f32x4.convert_i32x4_s(i32x4.extend_high_i16x8_s(cells))))
      cells = v128.load8x8_s(row, 24)
      g = f32x4.add(g, f32x4.mul(weight, f32x4.convert_i32x4_s(i32x4.extend_low_i16x8_s(cells))))
      h = f32x4.add(h, f32x4.mul(weight, f32x4.convert_i32x4_s(i32x4.extend_high_i16x8_s(cells))))
    }
    const out = sum + (column << 2)
    v128.store(out, a)
    v128.store(out, b, 16)
    v128.store(out, c, 32)
    v128.store(out, d, 48)
    v128.store(out, e, 64)
    v128.store(out, f, 80)
    v128.store(out, g, 96)
    v128.store(out, h, 112)
    squares = f32x4.add(squares, f32x4.add(f32x4.add(f32x4.mul(a, a), f32x4.mul(b, b)), f32x4.add(f32x4.mul(c, c), f32x4.mul(d, d))))
    squares = f32x4.add(squares, f32x4.add(f32x4.add(f32x4.mul(e, e), f32x4.mul(f, f)), f32x4.add(f32x4.mul(g, g), f32x4.mul(h, h))))
  }
  const length: f32 = sqrt<f32>(
    f32x4.extract_lane(squares, 0) + f32x4.extract_lane(squares, 1) + f32x4.extract_lane(squares, 2) + f32x4.extract_lane(squares, 3),
  )
  if (length < 1e-9) return false
  const scale = f32x4.splat(1 / length)
  for (let at = sum; at < sum + (<usize>dim << 2); at += 16) v128.store(at, f32x4.mul(v128.load(at), scale))
  return true
}
