// The tools: the words of each, and which tools have a word.
import { stretch, take } from './memory'
import { addPosting, countOf, createLog, removePosting } from './postings'
import { removeName } from './names'
import { saysNothing, termOf } from './terms'
import { getCodeCount, getCodes } from './words'

// A code: bits 0-23 the word, bits 24-26 the field, bit 27 the first word of a text. Names are field 0.
export const wordMask: i32 = 0xffffff
const textStart: i32 = 1 << 27
export const fieldMask: i32 = 7 << 24

/** What a word counts by its field. */
export const weights = take(32)
/** For each tool where its codes begin, how many there are, the weight of all its words, how many terms it has. */
const toolBytes: usize = 16
let toolRoom: i32 = 1 << 10
let toolCount: i32 = 0
let added: i32 = 0
let totalLength: f64 = 0
let changes: i32 = 0
let tools = take(<usize>toolRoom * toolBytes)
/** For each tool the neighbours among its terms, as bits of a hash: most tools without a pair are told by it. */
const signBytes: usize = 32
let signs = take(<usize>toolRoom * signBytes)
/** The codes of a tool, and after them the same with terms in the place of words, those that say nothing left out. */
const chunkBytes: usize = 1 << 18
let codesNext: usize = 0
let codesEnd: usize = 0
let gatherRoom: usize = 0
let gathered: usize = 0

export const words = createLog()
export const names = createLog()

/** How many tools have a term. */
export function sizeOf(term: i32): i32 {
  return countOf(words, term)
}

/** One more than the highest position. */
export function getToolCount(): i32 {
  return toolCount
}

export function getAdded(): i32 {
  return added
}
export function getTotalLength(): f64 {
  return totalLength
}
/** A number that differs after each change. */
export function getChanges(): i32 {
  return changes
}

function toolAt(position: i32): usize {
  return tools + <usize>position * toolBytes
}
export function codesAt(position: i32): usize {
  return load<u32>(toolAt(position))
}
/** Where the codes with terms begin and end. */
export function termsAt(position: i32): usize {
  return codesAt(position) + (<usize>codesOf(position) << 2)
}
export function termsEnd(position: i32): usize {
  return termsAt(position) + (<usize>load<i32>(toolAt(position), 12) << 2)
}
export function termsOf(position: i32): i32 {
  return load<i32>(toolAt(position), 12)
}
export function codesOf(position: i32): i32 {
  return load<i32>(toolAt(position), 4)
}
export function lengthOf(position: i32): f32 {
  return load<f32>(toolAt(position), 8)
}

/** Adds what was read since `clear` as a tool. */
export function add(position: i32): void {
  keep(position)
  const from = codesAt(position)
  const to = termsAt(position)
  let out = to
  let length: f32 = 0
  let before = saysNothing
  let mark: i32 = 0
  for (let code = from; code < from + (<usize>codesOf(position) << 2); code += 4) {
    const value = load<i32>(code)
    mark |= value & textStart
    const term = termOf(value & wordMask)
    if (term === saysNothing) continue
    const field = (value >> 24) & 7
    const weight = load<f32>(weights + (<usize>field << 2))
    addPosting(words, term, position, weight)
    if (field === 0) addPosting(names, term, position, 1)
    if (mark === 0) sign(position, before, term)
    store<i32>(out, term | (value & fieldMask) | mark)
    out += 4
    before = term
    mark = 0
    length += weight
  }
  store<f32>(toolAt(position), length, 8)
  store<i32>(toolAt(position), <i32>((out - to) >> 2), 12)
  codesNext = out
  totalLength += length
  added++
  changes++
}

export function remove(position: i32): void {
  removeName(position)
  const end = termsEnd(position)
  for (let at = termsAt(position); at < end; at += 4) {
    const value = load<i32>(at)
    removePosting(words, value & wordMask, position)
    if ((value & fieldMask) === 0) removePosting(names, value & wordMask, position)
  }
  totalLength -= lengthOf(position)
  added--
  changes++
  store<i32>(toolAt(position), 0, 4)
  store<f32>(toolAt(position), 0, 8)
  store<i32>(toolAt(position), 0, 12)
}

/** How many terms `weighPair` has read. */
export let pairSteps: i32 = 0
export function forgetSteps(): void {
  pairSteps = 0
}

/** How much a tool has of two terms next to each other. */
export function weighPair(position: i32, first: i32, second: i32): f32 {
  if (!isSigned(position, first, second)) return 0
  const end = termsEnd(position)
  pairSteps += termsOf(position)
  let weight: f32 = 0
  for (let at = termsAt(position) + 4; at < end; at += 4) {
    const value = load<i32>(at)
    // A word that begins a text has none before it.
    if ((value & (wordMask | textStart)) !== second || (load<i32>(at - 4) & wordMask) !== first) continue
    weight += load<f32>(weights + (<usize>((value >> 24) & 7) << 2))
  }
  return weight
}

function pairHash(first: i32, second: i32): u32 {
  const hash: u32 = (<u32>first * 0x9e3779b1) ^ (<u32>second * 0x85ebca6b)
  return ((hash ^ (hash >> 15)) * 0x2c1b3c6d) >> 24
}

function sign(position: i32, first: i32, second: i32): void {
  const bit = pairHash(first, second)
  const part = signs + <usize>position * signBytes + ((bit >> 5) << 2)
  store<u32>(part, load<u32>(part) | ((<u32>1) << (bit & 31)))
}

function isSigned(position: i32, first: i32, second: i32): bool {
  const bit = pairHash(first, second)
  return ((load<u32>(signs + <usize>position * signBytes + ((bit >> 5) << 2)) >> (bit & 31)) & 1) !== 0
}

/** The codes of the tools from one position to another, one after the other; before them where those of each end. */
export function gather(from: i32, to: i32): usize {
  let count: i32 = 0
  for (let position = from; position < to; position++) count += codesOf(position)
  const bytes = <usize>(to - from + count) << 2
  if (bytes > gatherRoom) {
    gatherRoom = bytes * 2
    gathered = take(gatherRoom)
  }
  let out = gathered + (<usize>(to - from) << 2)
  let end: i32 = 0
  for (let position = from; position < to; position++) {
    const codes = codesOf(position)
    memory.copy(out, codesAt(position), <usize>codes << 2)
    out += <usize>codes << 2
    end += codes
    store<i32>(gathered + (<usize>(position - from) << 2), end)
  }
  return gathered
}

/** Keeps the codes of a tool. */
function keep(position: i32): void {
  toolCount = max(toolCount, position + 1)
  const count = getCodeCount()
  if (position >= toolRoom) {
    let room = toolRoom
    while (room <= position) room <<= 1
    tools = stretch(tools, <usize>toolRoom * toolBytes, <usize>room * toolBytes)
    signs = stretch(signs, <usize>toolRoom * signBytes, <usize>room * signBytes)
    toolRoom = room
  }
  const bytes = <usize>count << 3
  if (codesNext + bytes > codesEnd) {
    codesNext = take(max(bytes, chunkBytes))
    codesEnd = codesNext + max(bytes, chunkBytes)
  }
  const tool = toolAt(position)
  store<u32>(tool, <u32>codesNext)
  store<i32>(tool, count, 4)
  memory.copy(codesNext, getCodes(), <usize>count << 2)
  memory.fill(signs + <usize>position * signBytes, 0, signBytes)
}
