// How near the words of a tool are to those of a query, one by one: the cosines of their rows.
import { take } from './memory'

const mostWords: i32 = 32
const fields: i32 = 5
/** Cosines are kept for this many words of tools; those of more are worked out again. */
const mostKept: i32 = 1 << 12

/** The rows of the query's words, their weights, and the scales to length one. */
const queryRows = take(<usize>mostWords << 2)
const weights = take(<usize>mostWords << 2)
const lengths = take(<usize>mostWords << 2)
let count: i32 = 0
let total: f32 = 0
/** The highest cosine to each word of the query. */
const highest = take(<usize>mostWords << 2)
/** The results: the share of the query in the tool, then of each field in the query. */
const shares = take(<usize>(fields + 1) << 2)
/** For each field the sum of the weights of its words, and of their highest cosines by weight. */
const totals = take(<usize>fields << 2)
const nearness = take(<usize>fields << 2)
/** The cosines of a word to those of the query, then the highest of them. */
const stride: usize = <usize>(mostWords + 4) << 2
/** For each row of the encoder the place of its cosines plus one, where the query is `number`. */
let places: usize = 0
let cosines: usize = 0
let kept: i32 = 0
let number: i32 = 0
let dim: usize = 0

export function startMatches(columns: i32, words: i32): void {
  dim = columns
  if (places === 0) {
    places = take(<usize>words << 3)
    cosines = take(<usize>(mostKept + 1) * stride)
  }
  number++
  count = 0
  total = 0
  kept = 0
}

export function addWord(rows: usize, row: i32, weight: f32): void {
  if (count === mostWords) return
  for (let at: usize = 0; at < <usize>count << 2; at += 4) if (load<i32>(queryRows + at) === row) return
  const at = <usize>count << 2
  const first = rows + <usize>row * dim
  store<i32>(queryRows + at, row)
  store<f32>(weights + at, weight)
  store<f32>(lengths + at, oneLong(product(first, first)))
  total += weight
  count++
}

export function hasWords(): bool {
  return total > 0
}

export function startTool(): void {
  memory.fill(highest, 0, <usize>mostWords << 2)
  memory.fill(totals, 0, <usize>fields << 2)
  memory.fill(nearness, 0, <usize>fields << 2)
}

/** Notes how near one word of a tool is. */
export function matchWord(rows: usize, row: i32, field: usize, weight: f32): void {
  const from = cosinesOf(rows, row)
  for (let at: usize = 0; at < <usize>count << 2; at += 16)
    v128.store(highest + at, f32x4.pmax(v128.load(highest + at), v128.load(from + at)))
  const sums = field << 2
  store<f32>(totals + sums, load<f32>(totals + sums) + weight)
  store<f32>(nearness + sums, load<f32>(nearness + sums) + weight * load<f32>(from + (<usize>mostWords << 2)))
}

/** Works out the shares of one tool. */
export function finishTool(): usize {
  let share: f32 = 0
  for (let at: usize = 0; at < <usize>count << 2; at += 4) share += load<f32>(weights + at) * load<f32>(highest + at)
  store<f32>(shares, share / total)
  for (let field: usize = 0; field < <usize>fields << 2; field += 4) {
    const sum = load<f32>(totals + field)
    store<f32>(shares + field, sum > 0 ? load<f32>(nearness + field) / sum : 0, 4)
  }
  return shares
}

/** The cosines of a word to all words of the query. */
function cosinesOf(rows: usize, row: i32): usize {
  const place = places + (<usize>row << 3)
  if (load<i32>(place, 4) === number) return cosines + <usize>load<i32>(place) * stride
  const out = cosines + <usize>kept * stride
  if (kept < mostKept) {
    store<i32>(place, kept++)
    store<i32>(place, number, 4)
  }
  const first = rows + <usize>row * dim
  const length = oneLong(product(first, first))
  let most: f32 = 0
  for (let at: usize = 0; at < <usize>count << 2; at += 4) {
    const other = rows + <usize>load<i32>(queryRows + at) * dim
    const cosine = <f32>product(first, other) * length * load<f32>(lengths + at)
    store<f32>(out + at, cosine)
    most = max<f32>(most, cosine)
  }
  store<f32>(out + (<usize>mostWords << 2), most)
  return out
}

// @ts-ignore: decorator
@inline
function oneLong(squares: i32): f32 {
  return squares > 0 ? 1 / sqrt<f32>(<f32>squares) : 0
}

/** The product of two rows. */
function product(one: usize, other: usize): i32 {
  let sums = i32x4.splat(0)
  for (let column: usize = 0; column < dim; column += 16) {
    const a = v128.load(one + column)
    const b = v128.load(other + column)
    sums = i32x4.add(sums, i32x4.dot_i16x8_s(i16x8.extend_low_i8x16_s(a), i16x8.extend_low_i8x16_s(b)))
    sums = i32x4.add(sums, i32x4.dot_i16x8_s(i16x8.extend_high_i8x16_s(a), i16x8.extend_high_i8x16_s(b)))
  }
  return i32x4.extract_lane(sums, 0) + i32x4.extract_lane(sums, 1) + i32x4.extract_lane(sums, 2) + i32x4.extract_lane(sums, 3)
}
