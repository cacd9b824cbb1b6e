// Characters beyond plain ones, by what JavaScript says they are: see src/search/tokenize.ts.
import { take } from './memory'

export const gap: u8 = 0
export const lower: u8 = 1
export const upper: u8 = 2
export const digit: u8 = 3
export const mark: u8 = 5
/** Beside its kind: whether its script has no spaces, whether it has a small form, whether all this is known. */
const kindMask: u8 = 7
export const packed: u8 = 8
const capital: u8 = 16
const known: u8 = 128

/** What each character of up to three bytes is; filled in as they are met. */
const classes = take(1 << 16)
export function classesAt(): usize {
  return classes
}

/** Whether one is part of a word, in the text that `oddEnd` looked at last. */
export let hasOddLetters: bool = false

/** The end of a text whose characters are all known, and none a capital; 0 where there are others. Lengths are JavaScript's. */
export function oddEnd(start: usize, length: i32): usize {
  hasOddLetters = false
  let at = start
  for (let left = length; left > 0; left--) {
    const bytes = bytesAt(at)
    if (bytes > 1) {
      const found = bytes === 4 ? pictureClass(at) : load<u8>(classes + codeAt(at, bytes))
      if ((found & known) === 0 || (found & capital) !== 0) return 0
      if ((found & kindMask) !== gap) hasOddLetters = true
      if (bytes === 4) left--
    }
    at += bytes
  }
  return at
}

// @ts-ignore: decorator
@inline
export function bytesAt(at: usize): usize {
  const code = load<u8>(at)
  return code < 0x80 ? 1 : code < 0xe0 ? 2 : code < 0xf0 ? 3 : 4
}

/** What a character of several bytes is. */
export function classAt(at: usize, bytes: usize): u8 {
  return bytes === 4 ? gap : load<u8>(classes + codeAt(at, bytes)) & ~known
}

export function kindOf(found: u8): u8 {
  return found & kindMask
}

// @ts-ignore: decorator
@inline
function codeAt(at: usize, bytes: usize): usize {
  const second = <usize>load<u8>(at, 1) & 63
  if (bytes === 2) return ((<usize>load<u8>(at) & 31) << 6) | second
  return ((<usize>load<u8>(at) & 15) << 12) | (second << 6) | (<usize>load<u8>(at, 2) & 63)
}

/** Pictures (U+1F300 to U+1F6FF) are part of no word; what others of four bytes are is not kept here. */
function pictureClass(at: usize): u8 {
  const third = load<u8>(at, 2)
  return load<u8>(at) === 0xf0 && load<u8>(at, 1) === 0x9f && third >= 0x8c && third <= 0x9b ? known : 0
}
