import { readFile } from 'node:fs/promises'
import { brotliDecompressSync } from 'node:zlib'
import { tokenRanksFile } from './package-info.ts'

/** Counts the tokens of a text; above 32,768 characters, and of words above 4,096 bytes, it is an estimate. */
export type TokenCounter = (text: string) => number

/** The rank of each token, by its bytes as a Latin-1 string. */
type Ranks = ReadonlyMap<string, number>

const words =
  /'(?:[sSdDmMtT]|[lL][lL]|[vV][eE]|[rR][eE])|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s+$|\s*[\r\n]|\s+(?!\S)|\s/gu
const isAscii = /^[\0-\x7f]*$/

let loading: Promise<TokenCounter> | undefined

/** A counter in the cl100k vocabulary, loaded with its first use. */
export function loadTokenCounter(): Promise<TokenCounter> {
  loading ??= readRanks().then((ranks) => (text) => countTokens(text, ranks))
  return loading
}

// Counting takes up to a microsecond for each character: longer texts are estimated from parts, so that no text holds the event loop.
const [countedCharacters, partCharacters] = [32_768, 4096]

function countTokens(text: string, ranks: Ranks): number {
  if (text.length <= countedCharacters) return countPart(text, ranks)
  const parts = countedCharacters / partCharacters
  const step = (text.length - partCharacters) / (parts - 1)
  let count = 0
  for (let part = 0; part < parts; part++) {
    const start = Math.round(part * step)
    count += countPart(text.slice(start, start + partCharacters), ranks)
  }
  return Math.round((count / countedCharacters) * text.length)
}

function countPart(text: string, ranks: Ranks): number {
  // Names of special tokens are ordinary text here, as in the messages that are sent to a model.
  let count = 0
  for (const [word] of text.matchAll(words)) count += countWord(word, ranks)
  return count
}

/** A word that is longer than a part is estimated, too. */
function countWord(word: string, ranks: Ranks): number {
  const bytes = isAscii.test(word) ? word : Buffer.from(word, 'utf8').toString('latin1')
  if (ranks.has(bytes)) return 1
  const counted = Math.min(bytes.length, partCharacters)
  return Math.round((mergeTokenBytes(bytes.slice(0, counted), ranks) / counted) * bytes.length)
}

/** The file has one entry per token, in the order of rank: the length in one byte, then the bytes (scripts/pack-tokens.mjs). */
async function readRanks(): Promise<Ranks> {
  const packed = brotliDecompressSync(await readFile(tokenRanksFile))
  const ranks = new Map<string, number>()
  for (let at = 0; at < packed.length; ) {
    const length = packed[at] as number
    ranks.set(packed.toString('latin1', at + 1, at + 1 + length), ranks.size)
    at += 1 + length
  }
  return ranks
}

/** The number of tokens of a word in byte pair encoding: the pair of the lowest rank is merged first, the leftmost of equals. */
export function mergeTokenBytes(bytes: string, ranks: ReadonlyMap<string, number>): number {
  const { length } = bytes
  // Parts are a linked list over their first bytes, so that a long word takes n log n steps.
  const next = Int32Array.from({ length }, (_, at) => at + 1)
  const before = Int32Array.from({ length: length + 1 }, (_, at) => at - 1)
  const pairs = new PairHeap()
  const push = (at: number): void => {
    const middle = next[at] as number
    if (at < 0 || middle >= length) return
    const end = next[middle] as number
    const rank = ranks.get(bytes.slice(at, end))
    if (rank !== undefined) pairs.push({ rank, at, middle, end })
  }
  for (let at = 0; at < length - 1; at++) push(at)
  let count = length
  for (let pair = pairs.pop(); pair !== undefined; pair = pairs.pop()) {
    const { at, middle, end } = pair
    // One of the two has been merged with another part.
    if (next[at] !== middle || next[middle] !== end) continue
    next[at] = end
    before[end] = at
    next[middle] = -1
    count--
    push(at)
    if (before[at] !== -1) push(before[at] as number)
  }
  return count
}

interface Pair {
  readonly rank: number
  readonly at: number
  readonly middle: number
  readonly end: number
}

const isBefore = (a: Pair, b: Pair): boolean => a.rank < b.rank || (a.rank === b.rank && a.at < b.at)

/** A binary heap with the pair to merge next on top. */
class PairHeap {
  readonly #pairs: Pair[] = []

  push(pair: Pair): void {
    const pairs = this.#pairs
    let at = pairs.push(pair) - 1
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (!isBefore(pair, pairs[parent] as Pair)) break
      pairs[at] = pairs[parent] as Pair
      at = parent
    }
    pairs[at] = pair
  }

  pop(): Pair | undefined {
    const pairs = this.#pairs
    const top = pairs[0]
    const last = pairs.pop()
    if (last === undefined || pairs.length === 0) return top
    let at = 0
    for (;;) {
      let child = at * 2 + 1
      if (child + 1 < pairs.length && isBefore(pairs[child + 1] as Pair, pairs[child] as Pair)) child++
      if (child >= pairs.length || !isBefore(pairs[child] as Pair, last)) break
      pairs[at] = pairs[child] as Pair
      at = child
    }
    pairs[at] = last
    return top
  }
}
