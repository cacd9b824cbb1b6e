/** A text as PostgreSQL takes it: no U+0000, and no half of a pair of surrogates. */
export const storableText = (text: string): string =>
  odd.test(text) ? wellFormed(text).replaceAll('\0', '\uFFFD') : text

/** A JSON value as PostgreSQL takes it, as text. */
export function storableJson(value: unknown): string {
  const text = JSON.stringify(value ?? null)
  return oddEscape.test(text) ? JSON.stringify(mended(value)) : text
}

/** A value as it can be kept: whoever is told it now and whoever reads it later see the same. */
export function storableValue(value: unknown): unknown {
  if (typeof value === 'string') return storableText(value)
  return typeof value === 'object' && oddEscape.test(JSON.stringify(value)) ? mended(value) : value
}

const odd = /[\0\uD800-\uDFFF]/
const oddEscape = /\\u0000|\\ud[89a-f]/i

function mended(value: unknown): unknown {
  if (typeof value === 'string') return storableText(value)
  if (Array.isArray(value)) return value.map(mended)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [storableText(name), mended(each)]))
}

// Node 20 has it; the types of the language level we compile for do not.
const wellFormed = (text: string): string => (text as string & { toWellFormed(): string }).toWellFormed()
