/** The mean of each number over many records with the same keys; 0 where there are none. */
export function average<Key extends string>(
  keys: readonly Key[],
  records: readonly Readonly<Record<Key, number>>[],
): Record<Key, number> {
  const means = keys.map((key) => {
    const sum = records.reduce((total, record) => total + record[key], 0)
    return [key, records.length === 0 ? 0 : sum / records.length] as const
  })
  return Object.fromEntries(means) as Record<Key, number>
}

/** The value that this share of the values does not exceed (quantile); 0 for no values. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0
}

/** Rounds a number for output. */
export const round = (value: number, digits = 2): number => Number(value.toFixed(digits))
