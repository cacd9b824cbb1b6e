import { TooldexError } from '../base/errors.ts'
import { checkJsonSize } from '../base/json-values.ts'

/** A text that PostgreSQL accepts: without U+0000 and lone surrogates. */
export const storableText = (text: string): string =>
  odd.test(text) ? wellFormed(text).replaceAll('\0', '\uFFFD') : text

/** The text of a JSON value in a form that PostgreSQL accepts. */
export function storableJson(value: unknown): string {
  const text = JSON.stringify(value ?? null)
  return oddEscape.test(text) ? JSON.stringify(replaceInvalid(value)) : text
}

/** A value as it will be read back from the database, so that the response of now and a later read are the same. */
export function storableValue(value: unknown): unknown {
  if (typeof value === 'string') return storableText(value)
  return typeof value === 'object' && oddEscape.test(JSON.stringify(value)) ? replaceInvalid(value) : value
}

const odd = /[\0\uD800-\uDFFF]/
const oddEscape = /\\u0000|\\ud[89a-f]/i

function replaceInvalid(value: unknown): unknown {
  if (typeof value === 'string') return storableText(value)
  if (Array.isArray(value)) return value.map(replaceInvalid)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [storableText(name), replaceInvalid(each)]))
}

// Node 20 implements it; the type definitions of the configured language level do not have it.
const wellFormed = (text: string): string => (text as string & { toWellFormed(): string }).toWellFormed()

/** Databases and serializers are recursive. */
const maxLevels = 1000

/** Rejects an output that nests too deeply to be stored. */
export function requireStorableLevels(output: unknown): unknown {
  if (checkJsonSize(output, { levels: maxLevels }) === 'fits') return output
  throw new TooldexError('OUTPUT_LIMIT', `The output nests deeper than ${maxLevels} levels.`, {
    hint: 'Return a flatter value.',
  })
}
