import type { Sample } from './run-soak.ts'

/** How much a number grew from the second quarter to the last; the first is warming up. */
export function growth(samples: readonly Sample[], read: (sample: Sample) => number) {
  const part = (from: number, to: number) =>
    samples.slice(Math.floor(samples.length * from), Math.floor(samples.length * to)).map(read)
  const [early, late] = [part(0.25, 0.5), part(0.75, 1)]
  return { early: middle(early), late: middle(late), share: middle(late) / middle(early) }
}

/** The median. */
export const middle = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor((values.length - 1) / 2)] ?? 0
