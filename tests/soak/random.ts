/** Numbers that look random and are the same for the same seed. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** One of several, the likelier the greater its weight. */
export function pick<Name extends string>(random: () => number, weights: Readonly<Record<Name, number>>): Name {
  const entries = Object.entries(weights) as [Name, number][]
  let left = random() * entries.reduce((sum, [, weight]) => sum + weight, 0)
  for (const [name, weight] of entries) {
    left -= weight
    if (left < 0) return name
  }
  return entries[0]?.[0] as Name
}
