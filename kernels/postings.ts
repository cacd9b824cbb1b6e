// Which tools have which term. All postings of a log are chained from the newest to the oldest of their term, so that adding
// one is an append.
import { stretch, take } from './memory'

/** A posting: the position of the tool, how much of the term it has, the posting before. */
export const entryBytes: usize = 12
const none: i32 = -1

/** What is known of a term: its newest posting plus one, how many there are, the position of the newest plus one. */
export const termBytes: usize = 12

@unmanaged
export class Log {
  terms: usize
  termRoom: i32
  entries: usize
  entryRoom: i32
  entryCount: i32
  /** Postings of removed tools, chained to be used again. */
  free: i32
}

export function createLog(): Log {
  const log = changetype<Log>(take(offsetof<Log>()))
  log.termRoom = 1 << 12
  log.terms = take(<usize>log.termRoom * termBytes)
  log.entryRoom = 1 << 13
  log.entries = take(<usize>log.entryRoom * entryBytes)
  log.entryCount = 0
  log.free = none
  return log
}

/** Raises what a tool has of a term. All terms of a tool are added before those of the next. */
export function addPosting(log: Log, term: i32, position: i32, weight: f32): void {
  if (term >= log.termRoom) growTerms(log, term)
  const row = log.terms + <usize>term * termBytes
  const newest = load<i32>(row) - 1
  if (load<i32>(row, 8) === position + 1) {
    const known = log.entries + <usize>newest * entryBytes
    store<f32>(known, load<f32>(known, 4) + weight, 4)
    return
  }
  const number = takeEntry(log)
  const entry = log.entries + <usize>number * entryBytes
  store<i32>(entry, position)
  store<f32>(entry, weight, 4)
  store<i32>(entry, newest, 8)
  store<i32>(row, number + 1)
  store<i32>(row, load<i32>(row, 4) + 1, 4)
  store<i32>(row, position + 1, 8)
}

export function removePosting(log: Log, term: i32, position: i32): void {
  if (term >= log.termRoom) return
  const row = log.terms + <usize>term * termBytes
  let after: usize = 0
  let number = load<i32>(row) - 1
  while (number >= 0) {
    const entry = log.entries + <usize>number * entryBytes
    const before = load<i32>(entry, 8)
    if (load<i32>(entry) === position) {
      if (after === 0) {
        store<i32>(row, before + 1)
        store<i32>(row, before < 0 ? 0 : load<i32>(log.entries + <usize>before * entryBytes) + 1, 8)
      } else store<i32>(after, before, 8)
      store<i32>(entry, log.free, 8)
      log.free = number
      store<i32>(row, load<i32>(row, 4) - 1, 4)
      return
    }
    after = entry
    number = before
  }
}

function takeEntry(log: Log): i32 {
  const free = log.free
  if (free !== none) {
    log.free = load<i32>(log.entries + <usize>free * entryBytes, 8)
    return free
  }
  if (log.entryCount === log.entryRoom) {
    const bytes = <usize>log.entryRoom * entryBytes
    log.entries = stretch(log.entries, bytes, bytes * 2)
    log.entryRoom <<= 1
  }
  return log.entryCount++
}

function growTerms(log: Log, term: i32): void {
  let room = log.termRoom
  while (room <= term) room <<= 1
  log.terms = stretch(log.terms, <usize>log.termRoom * termBytes, <usize>room * termBytes)
  log.termRoom = room
}
