/** The number of tokens of a word in byte pair encoding: the pair of the lowest rank is merged first, the leftmost of equals. */
export function mergeBytes(bytes: string, ranks: ReadonlyMap<string, number>): number {
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
