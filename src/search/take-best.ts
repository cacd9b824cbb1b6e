interface Ranking {
  /** The rank by position: higher is better, 0 excludes. */
  readonly ranks: Float64Array
  readonly limit: number
  /** The order of two positions with the same rank. */
  readonly before: (a: number, b: number) => boolean
}

/** The best positions in order, and the number of candidates: a heap of the best so far avoids sorting all. */
export function takeBest({ ranks, limit, before }: Ranking): { best: readonly number[]; total: number } {
  const heap: { position: number; rank: number }[] = []
  const worse = (a: number, b: number): boolean => {
    const [first, second] = [heap[a] as (typeof heap)[0], heap[b] as (typeof heap)[0]]
    if (first.rank !== second.rank) return first.rank < second.rank
    return before(second.position, first.position)
  }
  const swap = (a: number, b: number): void => {
    const entry = heap[a] as (typeof heap)[0]
    heap[a] = heap[b] as (typeof heap)[0]
    heap[b] = entry
  }
  const sink = (from: number): void => {
    for (let at = from; ; ) {
      let worst = at
      for (const child of [2 * at + 1, 2 * at + 2]) if (child < heap.length && worse(child, worst)) worst = child
      if (worst === at) return
      swap(at, worst)
      at = worst
    }
  }
  const rise = (from: number): void => {
    for (let at = from; at > 0 && worse(at, (at - 1) >> 1); at = (at - 1) >> 1) swap(at, (at - 1) >> 1)
  }
  // The threshold: anything above zero until there are enough, then the worst of the best.
  let weakest = limit === 0 ? Number.POSITIVE_INFINITY : Number.MIN_VALUE
  for (let position = findFrom(ranks, 0, weakest); position < ranks.length; ) {
    const rank = ranks[position] as number
    if (heap.length < limit) {
      heap.push({ position, rank })
      rise(heap.length - 1)
    } else if (rank > weakest || before(position, (heap[0] as (typeof heap)[0]).position)) {
      heap[0] = { position, rank }
      sink(0)
    }
    if (heap.length === limit) weakest = (heap[0] as (typeof heap)[0]).rank
    position = findFrom(ranks, position + 1, weakest)
  }
  const best = heap.sort((a, b) => b.rank - a.rank || (before(a.position, b.position) ? -1 : 1))
  return { best: best.map(({ position }) => position), total: countAbove(ranks) }
}

/**
 * The next position with at least this rank. Kept as a separate function because it is all that runs for most positions.
 */
function findFrom(ranks: Float64Array, start: number, least: number): number {
  let position = start
  while (position < ranks.length && !((ranks[position] as number) >= least)) position++
  return position
}

function countAbove(ranks: Float64Array): number {
  let count = 0
  for (let position = 0; position < ranks.length; position++) count += (ranks[position] as number) > 0 ? 1 : 0
  return count
}
