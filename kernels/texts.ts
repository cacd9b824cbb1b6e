// Texts as words: a text is read in one walk that looks words up by the letters where they stand.
import { begins, cuts, isPlain, readBlock, startBlocks } from './letters'
import { bytesAt, classAt, digit, gap, hasOddLetters, kindOf, lower, mark as joining, oddEnd, packed, upper } from './odd-characters'
import { getCodeCount, kindOfPlain, markFirst, readWordAt } from './words'

/** Where the text ends that was read last; it is longer than was said where a character takes several bytes. */
export let textEnd: usize = 0

/** Reads a text; false, and nothing read, where it has characters that are not known. The first word is joined with `mark`. */
export function readText(text: usize, length: i32, tag: i32, mark: i32): bool {
  const before = getCodeCount()
  textEnd = text + length
  if (isPlain(text, textEnd)) readPlainText(text, textEnd, tag)
  else {
    textEnd = oddEnd(text, length)
    if (textEnd === 0) return false
    if (hasOddLetters) readOddText(text, textEnd, tag)
    else readPlainText(text, textEnd, tag)
  }
  markFirst(before, mark)
  return true
}

/** A text in which only plain characters are part of words. */
// @ts-ignore: decorator
@inline
function readPlainText(text: usize, end: usize, tag: i32): void {
  startBlocks()
  let start: usize = 0
  for (let block = text; block < end; block += 64) {
    readBlock(block, end)
    for (let rest = cuts; rest !== 0; rest &= rest - 1) {
      const at = ctz(rest)
      if (start !== 0) readWordAt(start, block + <usize>at - start, tag)
      start = ((begins >> at) & 1) !== 0 ? block + <usize>at : 0
    }
  }
  if (start !== 0) readWordAt(start, end - start, tag)
}

/** The same, character by character, in any script. */
function readOddText(text: usize, end: usize, tag: i32): void {
  let start = text
  let last = gap
  let seen: u8 = 0
  let at = text
  while (at < end) {
    const bytes = bytesAt(at)
    const found = lookAt(at, bytes)
    const kind = kindOf(found)
    const next = at + bytes
    if (kind === gap || (last !== gap && breaks(last, kind, next, end))) {
      endWord(start, at, seen, tag)
      start = kind === gap ? next : at
      seen = 0
    }
    if (bytes === 1 && kind === upper) store<u8>(at, load<u8>(at) + 32)
    seen |= found
    last = kind
    at = next
  }
  endWord(start, end, seen, tag)
}

// @ts-ignore: decorator
@inline
function lookAt(at: usize, bytes: usize): u8 {
  return bytes === 1 ? kindOfPlain(load<u8>(at)) : classAt(at, bytes)
}

/** `aB`, `a1`, `1a`, `1A`, and the last capital of `ABc`; a sign that joins is no end. */
function breaks(last: u8, kind: u8, next: usize, end: usize): bool {
  if (last === joining || kind === joining) return false
  if (kind === digit || last === digit) return kind !== last
  if (kind !== upper) return false
  return last === lower || (last === upper && next < end && kindOf(lookAt(next, bytesAt(next))) === lower)
}

/** Words of scripts without spaces are found by pairs of characters. */
function endWord(start: usize, end: usize, seen: u8, tag: i32): void {
  if (end <= start) return
  const second = start + bytesAt(start)
  if ((seen & packed) === 0 || second >= end || second + bytesAt(second) >= end) {
    readWordAt(start, end - start, tag)
    return
  }
  let first = start
  for (let at = second; at < end; ) {
    const next = at + bytesAt(at)
    readWordAt(first, next - first, tag)
    first = at
    at = next
  }
}
