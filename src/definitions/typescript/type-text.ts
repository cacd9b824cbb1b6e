import { isObject } from '../../base/json-values.ts'
import { cutText } from '../../rules/cut-text.ts'

const maxDoc = 300
const maxFact = 60

/** The literal type of a JSON value; objects and arrays have no literal types. */
export function literalOf(value: unknown): string {
  if (Array.isArray(value)) return 'Array<unknown>'
  if (isObject(value)) return '{ [key: string]: unknown }'
  // Both are line ends to TypeScript, but not to JSON.
  return (JSON.stringify(value) ?? 'unknown').replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')
}

/** The comment of a property, on a line of its own: its description, default and bounds; empty where it has none. */
export function typeDoc(schema: unknown): string {
  if (!isObject(schema)) return ''
  const text = typeof schema.description === 'string' ? cutText(toLine(schema.description), maxDoc) : ''
  const facts = factsOf(schema)
  const sentences = [text, facts.length === 0 ? '' : `(${facts.join(', ')})`].filter((part) => part !== '')
  return sentences.length === 0 ? '' : `${commentOf(sentences.join(' '))}\n`
}

/** A comment that a text cannot end. */
export const commentOf = (text: string): string => `/** ${toLine(text).replaceAll('*/', '*\\/')} */`

const toLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim()

/** The facts that a type cannot express. */
function factsOf(schema: Readonly<Record<string, unknown>>): string[] {
  const words = ['default', 'format', 'minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems', 'pattern']
  return words.flatMap((word) => {
    const value = schema[word]
    const fact = value === undefined ? undefined : JSON.stringify(value)
    return fact === undefined || fact.length > maxFact ? [] : [`${word} ${fact}`]
  })
}
