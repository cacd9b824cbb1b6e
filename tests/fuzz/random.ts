/** A source of numbers that gives the same ones for the same seed. */
export interface Random {
  /** A whole number below this one. */
  below(end: number): number
  chance(probability: number): boolean
  pick<Item>(items: readonly Item[]): Item
}

/** Mulberry32: small, fast and good enough to choose requests. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (end: number): number => Math.floor(next() * end)
  return {
    below,
    chance: (probability) => next() < probability,
    pick: (items) => {
      if (items.length === 0) throw new RangeError('nothing to pick from')
      return items[below(items.length)] as never
    },
  }
}
