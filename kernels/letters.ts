// Letters by the dozen: where words begin and end among sixty-four of them.

/** Bits of the block that was read last: where a word begins, and where one begins or has ended. */
export let begins: u64 = 0
export let cuts: u64 = 0

/** What the last character of the block before was, as the lowest bit. */
let lastLower: u64 = 0
let lastUpper: u64 = 0
let lastDigit: u64 = 0

/** What the characters of the block are, a bit for each. */
let lower: u64 = 0
let upper: u64 = 0
let digit: u64 = 0

/** Begins a text. */
// @ts-ignore: decorator
@inline
export function startBlocks(): void {
  lastLower = 0
  lastUpper = 0
  lastDigit = 0
}

/** Whether a text has only plain characters. */
// @ts-ignore: decorator
@inline
export function isPlain(text: usize, end: usize): bool {
  let all = i8x16.splat(0)
  let at = text
  for (; at + 16 <= end; at += 16) all = v128.or(all, v128.load(at))
  if (i8x16.bitmask(all) !== 0) return false
  return at === end || (i8x16.bitmask(v128.load(at)) & ((1 << <i32>(end - at)) - 1)) === 0
}

/** Reads the characters of a block up to the end, capitals made small in place; those that are not plain are part of no word. */
// @ts-ignore: decorator
@inline
export function readBlock(block: usize, end: usize): void {
  lower = 0
  upper = 0
  digit = 0
  readPart(block, end, 0)
  if (block + 16 < end) readPart(block + 16, end, 16)
  if (block + 32 < end) readPart(block + 32, end, 32)
  if (block + 48 < end) readPart(block + 48, end, 48)
  findCuts(block, end)
}

/** Sixteen characters; what comes after the end belongs to another text. */
function readPart(at: usize, end: usize, shift: u64): void {
  const all = v128.load(at)
  const inside: u64 = end - at >= 16 ? 0xffff : ((<u64>1) << <u64>(end - at)) - 1
  const capitals = v128.and(i8x16.ge_s(all, i8x16.splat(65)), i8x16.le_s(all, i8x16.splat(90)))
  const capitalBits = <u64>i8x16.bitmask(capitals) & inside
  if (capitalBits !== 0) lowerCase(at, all, capitals, inside)
  const small = v128.and(i8x16.ge_s(all, i8x16.splat(97)), i8x16.le_s(all, i8x16.splat(122)))
  const digits = v128.and(i8x16.ge_s(all, i8x16.splat(48)), i8x16.le_s(all, i8x16.splat(57)))
  upper |= capitalBits << shift
  lower |= (<u64>i8x16.bitmask(small) & inside) << shift
  digit |= (<u64>i8x16.bitmask(digits) & inside) << shift
}

// @ts-ignore: decorator
@inline
function lowerCase(at: usize, all: v128, capitals: v128, inside: u64): void {
  const made = v128.or(all, v128.and(capitals, i8x16.splat(32)))
  if (inside === 0xffff) {
    v128.store(at, made)
    return
  }
  const lanes = i8x16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
  v128.store(at, v128.bitselect(made, all, i8x16.lt_s(lanes, i8x16.splat(<i8>popcnt(inside)))))
}

/** A new word begins after what is none, and at `aB`, `a1`, `1a`, `1A`, and the last capital of `ABc`. */
// @ts-ignore: decorator
@inline
function findCuts(block: usize, end: usize): void {
  const word = lower | upper | digit
  const beforeLower = (lower << 1) | lastLower
  const beforeUpper = (upper << 1) | lastUpper
  const beforeDigit = (digit << 1) | lastDigit
  const before = beforeLower | beforeUpper | beforeDigit
  const afterLower = (lower >> 1) | (block + 64 < end && isLower(load<u8>(block, 64)) ? (<u64>1) << 63 : 0)
  const breaks = (digit ^ beforeDigit) | (beforeLower & upper) | (beforeUpper & upper & afterLower)
  begins = word & (~before | breaks)
  cuts = begins | (~word & before)
  lastLower = lower >> 63
  lastUpper = upper >> 63
  lastDigit = digit >> 63
}

// @ts-ignore: decorator
@inline
function isLower(code: u8): bool {
  return code >= 97 && code <= 122
}
