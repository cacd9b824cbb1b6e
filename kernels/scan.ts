// Dot products of one vector of 16-bit numbers with many of 8-bit numbers: the whole of the semantic scan.
// Beside them their sum and the sum of their squares, which say what stands out.
// Memory: the query at `query` (2 bytes a number), the rows at `rows` (1 byte a number), the answers at `out` (4 bytes each).

let sum: f64 = 0
let squares: f64 = 0

export function sumOfLast(): f64 {
  return sum
}
export function squaresOfLast(): f64 {
  return squares
}

/** A row takes 32 numbers a step, in two sums that do not wait for each other; `dim` is a multiple of 32. */
export function dot(query: usize, rows: usize, out: usize, count: i32, dim: i32): void {
  const end = out + (<usize>count << 2)
  let row = rows
  sum = 0
  squares = 0
  for (let at = out; at < end; at += 4) {
    let one = i32x4.splat(0)
    let two = i32x4.splat(0)
    let q = query
    for (const rowEnd = row + dim; row < rowEnd; row += 32) {
      let cells = v128.load(row)
      one = i32x4.add(one, i32x4.dot_i16x8_s(i16x8.extend_low_i8x16_s(cells), v128.load(q)))
      two = i32x4.add(two, i32x4.dot_i16x8_s(i16x8.extend_high_i8x16_s(cells), v128.load(q, 16)))
      cells = v128.load(row, 16)
      one = i32x4.add(one, i32x4.dot_i16x8_s(i16x8.extend_low_i8x16_s(cells), v128.load(q, 32)))
      two = i32x4.add(two, i32x4.dot_i16x8_s(i16x8.extend_high_i8x16_s(cells), v128.load(q, 48)))
      q += 64
    }
    one = i32x4.add(one, two)
    const product =
      i32x4.extract_lane(one, 0) + i32x4.extract_lane(one, 1) + (i32x4.extract_lane(one, 2) + i32x4.extract_lane(one, 3))
    store<i32>(at, product)
    sum += <f64>product
    squares += <f64>product * <f64>product
  }
}

/**
 * The highest products of a range of rows with four queries, and their rows: both are raised at `best`. Of equal products the
 * first row counts.
 */
export function highest(queries: usize, rows: usize, first: i32, end: i32, dim: i32, best: usize): void {
  let products = v128.load(best)
  let places = v128.load(best, 16)
  for (let place = first; place < end; place++) {
    const found = fourProducts(queries, rows + <usize>place * <usize>dim, dim)
    const isHigher = i32x4.gt_s(found, products)
    products = v128.bitselect(found, products, isHigher)
    places = v128.bitselect(i32x4.splat(place), places, isHigher)
  }
  v128.store(best, products)
  v128.store(best, places, 16)
}

/** The products of a row with four queries that lie one after the other. */
// @ts-ignore: decorator
@inline
function fourProducts(queries: usize, row: usize, dim: i32): v128 {
  const size = <usize>dim << 1
  let a = i32x4.splat(0)
  let b = i32x4.splat(0)
  let c = i32x4.splat(0)
  let d = i32x4.splat(0)
  for (let q = queries, at = row; at < row + <usize>dim; at += 16) {
    const cells = v128.load(at)
    const low = i16x8.extend_low_i8x16_s(cells)
    const high = i16x8.extend_high_i8x16_s(cells)
    a = i32x4.add(a, sixteen(low, high, q))
    b = i32x4.add(b, sixteen(low, high, q + size))
    c = i32x4.add(c, sixteen(low, high, q + size * 2))
    d = i32x4.add(d, sixteen(low, high, q + size * 3))
    q += 32
  }
  const ab = i32x4.add(v128.shuffle<i32>(a, b, 0, 4, 1, 5), v128.shuffle<i32>(a, b, 2, 6, 3, 7))
  const cd = i32x4.add(v128.shuffle<i32>(c, d, 0, 4, 1, 5), v128.shuffle<i32>(c, d, 2, 6, 3, 7))
  return i32x4.add(v128.shuffle<i64>(ab, cd, 0, 2), v128.shuffle<i64>(ab, cd, 1, 3))
}

/** Sixteen numbers of a row times those of a query, in four sums. */
// @ts-ignore: decorator
@inline
function sixteen(low: v128, high: v128, query: usize): v128 {
  return i32x4.add(i32x4.dot_i16x8_s(low, v128.load(query)), i32x4.dot_i16x8_s(high, v128.load(query, 16)))
}

/**
 * Adds to each score what meaning counts: the product above the mean, by weight. A tool without a score must stand out `far`.
 * No branch depends on the data, which is what makes this fast.
 */
export function fuse(scores: usize, products: usize, count: i32, mean: f64, weight: f64, far: f64): void {
  for (let index = 0; index < count; index++) {
    const at = scores + (<usize>index << 3)
    const score = load<f64>(at)
    const product = <f64>load<i32>(products + (<usize>index << 2))
    const stands =
      (i32(product > far) | (i32(score > 0) & i32(product > mean))) & i32(product !== 0)
    store<f64>(at, score + select<f64>(weight * (product - mean), 0, stands))
  }
}
