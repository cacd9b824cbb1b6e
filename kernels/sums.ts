// Weighted sums of rows of 8-bit numbers. A pick is the number of a row and a weight of 16 bits, two of them read at a time.

/** Sums up thirty-two columns over all picks; gives the sum of their squares. */
// @ts-ignore: decorator
@inline
export function sumColumns(picks: usize, end: usize, first: usize, dim: i32, out: usize): v128 {
  let a = i32x4.splat(0)
  let b = i32x4.splat(0)
  let c = i32x4.splat(0)
  let d = i32x4.splat(0)
  let e = i32x4.splat(0)
  let f = i32x4.splat(0)
  let g = i32x4.splat(0)
  let h = i32x4.splat(0)
  for (let at = picks; at < end; at += 16) {
    const weights = i32x4.splat((load<i32>(at, 4) & 0xffff) | (load<i32>(at, 12) << 16))
    const one = first + <usize>load<i32>(at) * <usize>dim
    const other = first + <usize>load<i32>(at, 8) * <usize>dim
    let cells = pairsBelow(v128.load(one), v128.load(other))
    a = i32x4.add(a, i32x4.dot_i16x8_s(i16x8.extend_low_i8x16_s(cells), weights))
    b = i32x4.add(b, i32x4.dot_i16x8_s(i16x8.extend_high_i8x16_s(cells), weights))
    cells = pairsAbove(v128.load(one), v128.load(other))
    c = i32x4.add(c, i32x4.dot_i16x8_s(i16x8.extend_low_i8x16_s(cells), weights))
    d = i32x4.add(d, i32x4.dot_i16x8_s(i16x8.extend_high_i8x16_s(cells), weights))
    cells = pairsBelow(v128.load(one, 16), v128.load(other, 16))
    e = i32x4.add(e, i32x4.dot_i16x8_s(i16x8.extend_low_i8x16_s(cells), weights))
    f = i32x4.add(f, i32x4.dot_i16x8_s(i16x8.extend_high_i8x16_s(cells), weights))
    cells = pairsAbove(v128.load(one, 16), v128.load(other, 16))
    g = i32x4.add(g, i32x4.dot_i16x8_s(i16x8.extend_low_i8x16_s(cells), weights))
    h = i32x4.add(h, i32x4.dot_i16x8_s(i16x8.extend_high_i8x16_s(cells), weights))
  }
  const low = f32x4.add(f32x4.add(keep(out, a), keep(out + 16, b)), f32x4.add(keep(out + 32, c), keep(out + 48, d)))
  const high = f32x4.add(f32x4.add(keep(out + 64, e), keep(out + 80, f)), f32x4.add(keep(out + 96, g), keep(out + 112, h)))
  return f32x4.add(low, high)
}

/** The first, or the last, eight cells of two rows, in turn. */
// @ts-ignore: decorator
@inline
function pairsBelow(one: v128, other: v128): v128 {
  return v128.shuffle<i8>(one, other, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
}
// @ts-ignore: decorator
@inline
function pairsAbove(one: v128, other: v128): v128 {
  return v128.shuffle<i8>(one, other, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)
}

/** Puts down what was summed up, and gives its squares. */
// @ts-ignore: decorator
@inline
function keep(at: usize, cells: v128): v128 {
  const numbers = f32x4.convert_i32x4_s(cells)
  v128.store(at, numbers)
  return f32x4.mul(numbers, numbers)
}
