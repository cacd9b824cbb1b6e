/** The value below which this share of all lies. */
export const percentile = (times: readonly number[], share: number): number =>
  [...times].sort((a, b) => a - b)[Math.max(0, Math.ceil(times.length * share) - 1)] ?? Number.NaN

/** How long something took, in milliseconds. */
export async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work()
  return performance.now() - started
}

/**
 * Measures again where a bound was not met: on a machine that others use, too, one bad moment proves nothing, and what is too slow
 * is too slow each time.
 */
export async function bestOf<T>(
  rounds: number,
  measure: () => Promise<T>,
  isGood: (measured: T) => boolean,
): Promise<T> {
  let measured = await measure()
  for (let round = 1; round < rounds && !isGood(measured); round++) measured = await measure()
  return measured
}
