import { unsupported } from './plain-yaml.ts'

const constants: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['true', true],
  ['false', false],
  ['null', null],
  ['~', null],
])
const otherCase = /^(?:true|false|null)$/i
const number = /^(?!-0)-?(?:0|[1-9]\d{0,14})(?:\.\d{1,10})?$/
const single = /^'(?:[^']|'')*'$/
// Starts with no indicator of YAML, and cannot be a number.
const plain = /^[\p{L}_/$(]/u

/** The value of a scalar on one line; throws `unsupported` if any YAML reader could read it differently. */
export function readPlainScalar(text: string): unknown {
  const first = text.charAt(0)
  if (first === '"') return JSON.parse(text)
  if (first === "'") return single.test(text) ? text.slice(1, -1).replaceAll("''", "'") : fail()
  if (text === '[]') return []
  if (text === '{}') return {}
  if (constants.has(text)) return constants.get(text)
  if (number.test(text)) return Number(text)
  const odd = !plain.test(text) || otherCase.test(text) || text.endsWith(':') || text.includes('\t')
  return odd || text.includes(': ') || text.includes(' #') ? fail() : text
}

function fail(): never {
  throw unsupported
}
