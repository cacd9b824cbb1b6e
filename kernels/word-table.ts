// Words by their letters, each once, as a number. Most are short: what is looked up says it all, and nothing else is read.
import { stretch, take } from './memory'

/** A slot: the first eight letters, the number plus one (0 is free), how many letters. */
const slotBytes: u32 = 16
/** A word: its hash, where its letters begin, how many there are. */
const recordBytes: u32 = 12
const shortest: usize = 8

@unmanaged
export class WordTable {
  slots: usize
  slotCount: u32
  records: usize
  room: i32
  count: i32
  letters: usize
  letterRoom: usize
  letterCount: usize
}

export function createWordTable(): WordTable {
  const table = changetype<WordTable>(take(offsetof<WordTable>()))
  table.slotCount = 1 << 15
  table.slots = take(table.slotCount * slotBytes)
  table.room = 1 << 14
  table.records = take(<usize>table.room * recordBytes)
  table.letterRoom = 1 << 17
  table.letters = take(table.letterRoom)
  return table
}

// @ts-ignore: decorator
@inline
function recordAt(table: WordTable, number: i32): usize {
  return table.records + <usize>number * recordBytes
}
// @ts-ignore: decorator
@inline
export function lettersOf(table: WordTable, number: i32): usize {
  return table.letters + load<u32>(recordAt(table, number), 4)
}
// @ts-ignore: decorator
@inline
export function lengthOf(table: WordTable, number: i32): i32 {
  return load<i32>(recordAt(table, number), 8)
}

/** Where the letters of a word begin among all; for the number after the last one, where they end. */
export function startOf(table: WordTable, number: i32): i32 {
  return number < table.count ? load<i32>(recordAt(table, number), 4) : <i32>table.letterCount
}

/** The end of the letters, with room for so many more. */
export function reserve(table: WordTable, length: usize): usize {
  if (table.letterCount + length + shortest > table.letterRoom) {
    const wanted = (table.letterRoom + length + shortest) * 2
    table.letters = stretch(table.letters, table.letterRoom, wanted)
    table.letterRoom = wanted
  }
  return table.letters + table.letterCount
}

/** The number of a word, -1 for one that is not there. Eight bytes can be read wherever a word begins, and after its end. */
export function find(table: WordTable, start: usize, length: usize): i32 {
  const key = keyOf(start, length)
  const slot = seek(table, start, length, key, hashOf(key, start, length))
  return load<i32>(slot, 8) - 1
}

/** The same for one that is added where it is not there. */
// @ts-ignore: decorator
@inline
export function findOrAdd(table: WordTable, start: usize, length: usize): i32 {
  const key = keyOf(start, length)
  const hash = hashOf(key, start, length)
  const slot = seek(table, start, length, key, hash)
  const number = load<i32>(slot, 8) - 1
  return number < 0 ? add(table, start, length, hash, slot) : number
}

/** Eight letters at a time. */
// @ts-ignore: decorator
@inline
function hashOf(key: u64, start: usize, length: usize): u32 {
  return length <= shortest ? mix(key) : hashLong(key, start, length)
}
function hashLong(key: u64, start: usize, length: usize): u32 {
  let hash: u64 = key
  for (let at = shortest; at < length; at += shortest) hash = <u64>mix(hash) ^ (hash << 7) ^ keyOf(start + at, length - at)
  return mix(hash)
}
// @ts-ignore: decorator
@inline
function mix(value: u64): u32 {
  const product = value * 0x9e3779b97f4a7c15
  return <u32>(product >> 32) ^ <u32>(product >> 47)
}

/** The slot of a word, or the free one where it belongs. */
// @ts-ignore: decorator
@inline
function seek(table: WordTable, start: usize, length: usize, key: u64, hash: u32): usize {
  const mask = table.slotCount - 1
  let index = hash & mask
  while (true) {
    const slot = table.slots + index * slotBytes
    const number = load<i32>(slot, 8) - 1
    if (number < 0) return slot
    if (load<u64>(slot) === key && load<u32>(slot, 12) === <u32>length)
      if (length <= shortest || isSame(lettersOf(table, number), start, length)) return slot
    index = (index + 1) & mask
  }
}

// @ts-ignore: decorator
@inline
function keyOf(start: usize, length: usize): u64 {
  const letters = load<u64>(start)
  return length < shortest ? letters & (((<u64>1) << (<u64>length << 3)) - 1) : letters
}

function isSame(one: usize, other: usize, length: usize): bool {
  for (let at = shortest; at < length; at += shortest)
    if (keyOf(one + at, length - at) !== keyOf(other + at, length - at)) return false
  return true
}

function add(table: WordTable, start: usize, length: usize, hash: u32, slot: usize): i32 {
  const number = table.count++
  if (table.count > table.room) {
    table.records = stretch(table.records, <usize>table.room * recordBytes, <usize>table.room * recordBytes * 2)
    table.room <<= 1
  }
  memory.copy(reserve(table, length), start, length)
  const record = recordAt(table, number)
  store<u32>(record, hash)
  store<u32>(record, <u32>table.letterCount, 4)
  store<u32>(record, <u32>length, 8)
  table.letterCount += length
  fill(table, slot, number)
  if (<u32>table.count * 2 > table.slotCount) spread(table)
  return number
}

function fill(table: WordTable, slot: usize, number: i32): void {
  const length = lengthOf(table, number)
  store<u64>(slot, keyOf(lettersOf(table, number), length))
  store<i32>(slot, number + 1, 8)
  store<i32>(slot, length, 12)
}

function spread(table: WordTable): void {
  table.slotCount <<= 1
  table.slots = take(table.slotCount * slotBytes)
  const mask = table.slotCount - 1
  for (let number = 0; number < table.count; number++) {
    const hash = load<u32>(recordAt(table, number))
    let index = hash & mask
    while (load<i32>(table.slots + index * slotBytes, 8) !== 0) index = (index + 1) & mask
    fill(table, table.slots + index * slotBytes, number)
  }
}
