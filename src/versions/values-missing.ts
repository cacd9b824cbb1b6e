import { sameJson } from '../base/json-values.ts'

/** The values of the first array that are not in the second; linear time for scalars. */
export function valuesMissing(from: readonly unknown[], others: readonly unknown[]): readonly unknown[] {
  const plain = new Set(others.filter((value) => !isNested(value)))
  const nested = others.filter(isNested)
  return from.filter((value) => (isNested(value) ? !nested.some((other) => sameJson(value, other)) : !plain.has(value)))
}

const isNested = (value: unknown) => typeof value === 'object' && value !== null
