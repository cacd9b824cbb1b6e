// Tools by exact name: three hashes for each, of its name, its id, and its namespace with its name. All are looked at.
import { hashStart } from './hash'
import { stretch, take } from './memory'
import { hashField, hashLetters, hashPlain, plainHash, wordAt } from './words'

const nameField: i32 = 0
const namespaceField: i32 = 1
/** Three hashes and one that stays empty. */
const rowBytes: usize = 16

let room: i32 = 1 << 10
let rows = take(<usize>room * rowBytes)
let count: i32 = 0
/** The hash of the id or of the query that was read last. */
let spelling: u32 = 0
let listRoom: i32 = 0
let list: usize = 0

/** Begins a spelling whose words are cut out elsewhere. */
export function startSpelling(): void {
  spelling = hashStart
}
export function spellWord(length: i32): void {
  spelling = hashLetters(wordAt(length), length, spelling)
}
/** Reads a plain spelling; false where it is none. */
export function readSpelling(text: usize, length: i32): bool {
  if (!hashPlain(text, length)) return false
  spelling = plainHash
  return true
}

/** Keeps the spellings of the tool that was read since `clear`. */
export function addName(position: i32): void {
  if (position >= room) {
    let wanted = room
    while (wanted <= position) wanted <<= 1
    rows = stretch(rows, <usize>room * rowBytes, <usize>wanted * rowBytes)
    room = wanted
  }
  count = max(count, position + 1)
  const row = rows + <usize>position * rowBytes
  store<u32>(row, hashField(nameField, hashStart))
  store<u32>(row, spelling, 4)
  store<u32>(row, hashField(nameField, hashField(namespaceField, hashStart)), 8)
}

export function removeName(position: i32): void {
  if (position < count) memory.fill(rows + <usize>position * rowBytes, 0, rowBytes)
}

/** Lists the positions with the spelling that was read last, and says how many there are. */
export function findNames(): i32 {
  const wanted = i32x4.splat(spelling)
  let found: i32 = 0
  for (let position = 0; position < count; position++) {
    const same = i32x4.eq(v128.load(rows + <usize>position * rowBytes), wanted)
    if (v128.any_true(same)) keep(position, found++)
  }
  return found
}
export function namesAt(): usize {
  return list
}

function keep(position: i32, at: i32): void {
  if (at === listRoom) {
    const wanted = max(listRoom << 1, 1 << 6)
    list = stretch(list, <usize>listRoom << 2, <usize>wanted << 2)
    listRoom = wanted
  }
  store<i32>(list + (<usize>at << 2), position)
}
