import { isDeepStrictEqual } from 'node:util'

/** The named fields of an object, in that order, without those that equal their default. */
export function leaveOut<T extends object>(
  value: T,
  defaults: Readonly<Record<string, unknown>>,
  order: readonly string[],
): Record<string, unknown> {
  const fields = value as Readonly<Record<string, unknown>>
  const kept = order.filter((name) => fields[name] !== undefined && !isDeepStrictEqual(fields[name], defaults[name]))
  return Object.fromEntries(kept.map((name) => [name, fields[name]]))
}
