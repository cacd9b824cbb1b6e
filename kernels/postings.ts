// Which tools have which term: a list for each term, in blocks that double in size, so that adding is an append and reading a
// walk along memory.
import { stretch, take } from './memory'

/** A block: the one before, the next, how many postings it has, how many fit; then the postings. */
const blockHead: usize = 16
/** A posting: the position of the tool, how much of the term it has. */
const entryBytes: usize = 8
const firstRoom: i32 = 4
const mostRoom: i32 = 512
/**
 * What is kept of a term: its first block, the last one in use, how many postings, the newest position plus one; then where the
 * next posting goes and where its block ends, so that adding one touches nothing else.
 */
const termBytes: usize = 24

@unmanaged
export class Log {
  terms: usize
  termRoom: i32
}

export function createLog(): Log {
  const log = changetype<Log>(take(offsetof<Log>()))
  log.termRoom = 1 << 12
  log.terms = take(<usize>log.termRoom * termBytes)
  return log
}

/** Where a walk begins; the last block is told how many it has only here. */
// @ts-ignore: decorator
@inline
export function firstBlock(log: Log, term: i32): usize {
  const row = log.terms + <usize>term * termBytes
  const last: usize = load<u32>(row, 4)
  if (last !== 0) store<i32>(last, <i32>((<usize>load<u32>(row, 16) - entriesIn(last)) / entryBytes), 8)
  return load<u32>(row)
}
// @ts-ignore: decorator
@inline
export function nextBlock(block: usize): usize {
  return load<u32>(block, 4)
}
// @ts-ignore: decorator
@inline
export function entriesIn(block: usize): usize {
  return block + blockHead
}
// @ts-ignore: decorator
@inline
export function entriesEnd(block: usize): usize {
  return block + blockHead + <usize>load<i32>(block, 8) * entryBytes
}

export function countOf(log: Log, term: i32): i32 {
  return term < log.termRoom ? load<i32>(log.terms + <usize>term * termBytes, 8) : 0
}

/** Raises what a tool has of a term. All terms of a tool are added before those of the next. */
export function addPosting(log: Log, term: i32, position: i32, weight: f32): void {
  if (term >= log.termRoom) growTerms(log, term)
  const row = log.terms + <usize>term * termBytes
  let entry: usize = load<u32>(row, 16)
  if (load<i32>(row, 12) === position + 1) {
    store<f32>(entry - entryBytes, load<f32>(entry - entryBytes, 4) + weight, 4)
    return
  }
  if (entry === load<u32>(row, 20)) entry = nextRoom(row)
  store<i32>(entry, position)
  store<f32>(entry, weight, 4)
  store<u32>(row, <u32>(entry + entryBytes), 16)
  store<i32>(row, load<i32>(row, 8) + 1, 8)
  store<i32>(row, position + 1, 12)
}

/** The order within a list means nothing, so the last posting takes the place of the one that goes. */
export function removePosting(log: Log, term: i32, position: i32): void {
  if (term >= log.termRoom) return
  const row = log.terms + <usize>term * termBytes
  for (let block = firstBlock(log, term); block !== 0; block = nextBlock(block)) {
    for (let entry = entriesIn(block); entry < entriesEnd(block); entry += entryBytes) {
      if (load<i32>(entry) !== position) continue
      const last: usize = load<u32>(row, 4)
      const taken = entriesEnd(last) - entryBytes
      store<u64>(entry, load<u64>(taken))
      store<i32>(last, load<i32>(last, 8) - 1, 8)
      const before = load<u32>(last)
      useBlock(row, load<i32>(last, 8) === 0 && before !== 0 ? before : last)
      store<i32>(row, load<i32>(row, 8) - 1, 8)
      store<i32>(row, 0, 12)
      return
    }
  }
}

/** Room for a posting in the block after the last one in use: one left over, or a new one. */
function nextRoom(row: usize): usize {
  const last: usize = load<u32>(row, 4)
  let block: usize = last === 0 ? 0 : nextBlock(last)
  if (last !== 0) store<i32>(last, load<i32>(last, 12), 8)
  if (block === 0) {
    const room = last === 0 ? firstRoom : min(load<i32>(last, 12) * 2, mostRoom)
    block = take(blockHead + <usize>room * entryBytes)
    store<u32>(block, <u32>last)
    store<i32>(block, room, 12)
    if (last === 0) store<u32>(row, <u32>block)
    else store<u32>(last, <u32>block, 4)
  }
  useBlock(row, block)
  return entriesEnd(block)
}

function useBlock(row: usize, block: usize): void {
  store<u32>(row, <u32>block, 4)
  store<u32>(row, <u32>entriesEnd(block), 16)
  store<u32>(row, <u32>(entriesIn(block) + <usize>load<i32>(block, 12) * entryBytes), 20)
}

function growTerms(log: Log, term: i32): void {
  let room = log.termRoom
  while (room <= term) room <<= 1
  log.terms = stretch(log.terms, <usize>log.termRoom * termBytes, <usize>room * termBytes)
  log.termRoom = room
}
