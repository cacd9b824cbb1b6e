/** The number of first hits whose order may be changed. */
export const reordered = 50
/** The share of its score that a tool keeps that cannot be called now. */
const demotion = 0.95

/** Moves tools that cannot be called below equal ones that can, among the first of all pages. */
export function demoteUncallable(
  best: readonly number[],
  ranks: Float64Array,
  isCallable: (position: number) => boolean,
): readonly number[] {
  const head = best.slice(0, reordered)
  const worth = new Map(
    head.map((position) => [position, (ranks[position] as number) * (isCallable(position) ? 1 : demotion)]),
  )
  head.sort((a, b) => (worth.get(b) as number) - (worth.get(a) as number))
  return [...head, ...best.slice(reordered)]
}
