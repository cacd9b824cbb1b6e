import { unsupported } from './plain-yaml-lines.ts'

const words: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['true', true],
  ['false', false],
  ['null', null],
  ['~', null],
])
const otherCase = /^(?:true|false|null)$/i
const number = /^(?!-0)-?(?:0|[1-9]\d{0,14})(?:\.\d{1,10})?$/
const single = /^'(?:[^']|'')*'$/
// Begins with nothing that means something to YAML, and can be no number.
const plain = /^[\p{L}_/$(]/u

/** The value of a text on one line; what is read in any other way by some reader is left to the full one. */
export function readPlainScalar(text: string): unknown {
  const first = text.charAt(0)
  if (first === '"') return JSON.parse(text)
  if (first === "'") return single.test(text) ? text.slice(1, -1).replaceAll("''", "'") : fail()
  if (text === '[]') return []
  if (text === '{}') return {}
  if (words.has(text)) return words.get(text)
  if (number.test(text)) return Number(text)
  const odd = !plain.test(text) || otherCase.test(text) || text.endsWith(':') || text.includes('\t')
  return odd || text.includes(': ') || text.includes(' #') ? fail() : text
}

function fail(): never {
  throw unsupported
}
