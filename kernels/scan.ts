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
