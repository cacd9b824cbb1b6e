// The scores of one query: BM25 over words and pairs of neighbours, and how much of its name each tool finds in the query.
import { stretch, take } from './memory'
import { countOf, entriesEnd, entriesIn, firstBlock, nextBlock } from './postings'
import { fieldMask, forgetSteps, getAdded, getChanges, getToolCount, getTotalLength, lengthOf, names, pairSteps, termsAt, termsEnd, weighPair, wordMask, words } from './tools'

/** By position: the score, the part of BM25 that depends on the length, what of the name was found. */
let room: i32 = 1 << 10
let scores = take(<usize>room << 3)
let norms = take(<usize>room << 2)
let found = take(<usize>room << 3)
/** What all words of the name would give, and after how many changes that was worked out. */
let totals = take(<usize>room << 3)
let totalsOf = take(<usize>room << 2)
/** The last pair whose first word a tool was seen to have. */
let seen = take(<usize>room << 2)
let pairs: i32 = 0
/** Pairs are counted until a query has read this many terms, about 15 ms: further ones of a query that long say little. */
const mostSteps: i32 = 12_000_000
/** Positions collected along the way, with a weight each. */
let listRoom: i32 = 1 << 10
let list = take(<usize>listRoom << 3)
let listed: i32 = 0

let changes: i32 = -1
let tools: f64 = 0
let k1: f64 = 0

/** Clears the scores. */
export function startQuery(): void {
  memory.fill(scores, 0, <usize>getToolCount() << 3)
  listed = 0
  forgetSteps()
}

/** Works out what depends on all tools together, after a change of them. */
export function refresh(saturation: f64, b: f64): void {
  if (getChanges() === changes) return
  const size = getToolCount()
  if (size > room) grow(size)
  changes = getChanges()
  tools = getAdded()
  k1 = saturation
  const average = tools > 0 && getTotalLength() > 0 ? getTotalLength() / tools : 1
  for (let position = 0; position < size; position++)
    store<f32>(norms + (<usize>position << 2), <f32>(k1 * (1 - b + (b * <f64>lengthOf(position)) / average)))
}

export function scoresAt(): usize {
  return scores
}

/** Rare terms say more. */
export function idf(count: i32): f64 {
  return Math.log(1 + (tools - <f64>count + 0.5) / (<f64>count + 0.5))
}

/** Adds what a term gives; `weight` says what it counts. */
export function addTerm(term: i32, weight: f64): void {
  const count = countOf(words, term)
  if (count === 0) return
  const factor = idf(count) * weight * (k1 + 1)
  for (let block = firstBlock(words, term); block !== 0; block = nextBlock(block)) {
    const end = entriesEnd(block)
    for (let entry = entriesIn(block); entry < end; entry += 8) raise(load<i32>(entry), load<f32>(entry, 4), factor)
  }
}

/** The same for two terms next to each other. Only tools with both are looked at. Gives how many have the pair, 0 where it was left out. */
export function addPair(first: i32, second: i32, weight: f64): i32 {
  if (pairSteps > mostSteps) return 0
  pairs++
  for (let block = firstBlock(words, first); block !== 0; block = nextBlock(block)) {
    const end = entriesEnd(block)
    for (let entry = entriesIn(block); entry < end; entry += 8) store<i32>(seen + (<usize>load<i32>(entry) << 2), pairs)
  }
  listed = 0
  for (let block = firstBlock(words, second); block !== 0; block = nextBlock(block)) {
    const end = entriesEnd(block)
    for (let entry = entriesIn(block); entry < end; entry += 8) {
      const position = load<i32>(entry)
      if (load<i32>(seen + (<usize>position << 2)) !== pairs) continue
      const amount = weighPair(position, first, second)
      if (amount > 0) keep(position, amount)
    }
  }
  const count = listed
  const factor = idf(count) * weight * (k1 + 1)
  for (let at = list; at < list + (<usize>listed << 3); at += 8) raise(load<i32>(at), load<f32>(at, 4), factor)
  listed = 0
  return count
}

// @ts-ignore: decorator
@inline
function raise(position: i32, amount: f32, factor: f64): void {
  const at = scores + (<usize>position << 3)
  store<f64>(at, load<f64>(at) + (factor * <f64>amount) / <f64>(amount + load<f32>(norms + (<usize>position << 2))))
}

/** Notes the tools that have a term in their name. */
export function addNameTerm(term: i32): void {
  if (countOf(names, term) === 0) return
  const worth = idf(countOf(words, term))
  for (let block = firstBlock(names, term); block !== 0; block = nextBlock(block)) {
    const end = entriesEnd(block)
    for (let entry = entriesIn(block); entry < end; entry += 8) {
      const position = load<i32>(entry)
      const at = found + (<usize>position << 3)
      if (load<f64>(at) === 0) keep(position, 0)
      store<f64>(at, load<f64>(at) + worth)
    }
  }
}

/** Adds the share of each name that was noted; the whole of it counts `worth`. */
export function finishNames(worth: f64): void {
  for (let at = list; at < list + (<usize>listed << 3); at += 8) {
    const position = load<i32>(at)
    const score = scores + (<usize>position << 3)
    const share = load<f64>(found + (<usize>position << 3)) / nameTotal(position)
    store<f64>(score, load<f64>(score) + worth * share)
    store<f64>(found + (<usize>position << 3), 0)
  }
  listed = 0
}

/** The share of a name that one term is; 0 where it is not part of it. */
export function coverageOf(position: i32, term: i32): f64 {
  const end = termsEnd(position)
  for (let at = termsAt(position); at < end && (load<i32>(at) & fieldMask) === 0; at += 4)
    if ((load<i32>(at) & wordMask) === term) return idf(countOf(words, term)) / nameTotal(position)
  return 0
}

/** What one term gives one tool. */
export function scoreOf(position: i32, term: i32, weight: f64): f64 {
  for (let block = firstBlock(words, term); block !== 0; block = nextBlock(block))
    for (let entry = entriesIn(block); entry < entriesEnd(block); entry += 8)
      if (load<i32>(entry) === position) return given(position, load<f32>(entry, 4), countOf(words, term), weight)
  return 0
}

/** What a pair that `count` tools have gives one tool. */
export function scoreOfPair(position: i32, first: i32, second: i32, count: i32, weight: f64): f64 {
  if (count === 0) return 0
  const amount = weighPair(position, first, second)
  return amount > 0 ? given(position, amount, count, weight) : 0
}

function given(position: i32, amount: f32, count: i32, weight: f64): f64 {
  const factor = idf(count) * weight * (k1 + 1)
  return (factor * <f64>amount) / <f64>(amount + load<f32>(norms + (<usize>position << 2)))
}

/** What all words of a name together would give; worked out again after a change, and only where it is asked for. */
function nameTotal(position: i32): f64 {
  const known = totalsOf + (<usize>position << 2)
  const total = totals + (<usize>position << 3)
  if (load<i32>(known) === changes + 1) return load<f64>(total)
  let sum: f64 = 0
  const start = termsAt(position)
  const end = termsEnd(position)
  for (let at = start; at < end && (load<i32>(at) & fieldMask) === 0; at += 4) {
    const term = load<i32>(at) & wordMask
    let isFirst = true
    for (let before = start; before < at; before += 4) if ((load<i32>(before) & wordMask) === term) isFirst = false
    if (isFirst) sum += idf(countOf(words, term))
  }
  store<f64>(total, sum)
  store<i32>(known, changes + 1)
  return sum
}

function keep(position: i32, weight: f32): void {
  if (listed === listRoom) {
    list = stretch(list, <usize>listRoom << 3, <usize>listRoom << 4)
    listRoom <<= 1
  }
  const at = list + (<usize>listed << 3)
  store<i32>(at, position)
  store<f32>(at, weight, 4)
  listed++
}

/** Nothing in these columns outlasts a query but what `changes` guards. */
function grow(size: i32): void {
  while (room < size) room <<= 1
  scores = take(<usize>room << 3)
  norms = take(<usize>room << 2)
  found = take(<usize>room << 3)
  totals = take(<usize>room << 3)
  totalsOf = take(<usize>room << 2)
  seen = take(<usize>room << 2)
  pairs = 0
  changes = -1
}
