import { refusedKeys } from './yaml-document.ts'

// The key at a position of a line, whatever follows it.
const keyPattern = /(?:([A-Za-z_$][\w.$-]*)|("(?:[^"\\]|\\.)*")):(?: +|$)/y
const truths = /^(?:true|false|null)$/i
const maxKeyLength = 500
const maxDepth = 100
const literals = new Map<string, '' | '-' | '+'>(Object.entries({ '|': '', '|-': '-', '|+': '+' }))
// Carriage returns, and markers of the start or end of a document.
const otherForm = /\r|^\ufeff|^(?:---|\.\.\.|%)/m

/**
 * Reads YAML in the plain form that programs write: block mappings and sequences, scalars on one line, literal blocks. Returns
 * undefined for any other text, valid or not: it is left to the full reader, which is a hundred times slower and reports problems.
 */
export function readPlainYaml(text: string): { readonly value: unknown } | undefined {
  if (!text.endsWith('\n') || otherForm.test(text)) return undefined
  const lines = new PlainLines(text)
  try {
    const indent = lines.skip()
    if (indent !== 0) return undefined
    const value = readBlock(lines, 0, 0)
    return lines.skip() === -1 ? { value } : undefined
  } catch (thrown) {
    if (thrown === unsupported || thrown instanceof SyntaxError) return undefined
    throw thrown
  }
}

function readBlock(lines: PlainLines, indent: number, depth: number): unknown {
  if (depth > maxDepth) throw unsupported
  return lines.isDash(indent) ? readSequence(lines, indent, depth) : readMapping(lines, indent, depth)
}

function readMapping(lines: PlainLines, indent: number, depth: number): Record<string, unknown> {
  const value: Record<string, unknown> = {}
  do {
    const { key, start } = readKey(lines.line(), indent) ?? fail()
    if (refusedKeys.has(key) || Object.hasOwn(value, key)) throw unsupported
    const rest = trimBlanks(lines.line(), start)
    lines.at++
    value[key] = readValue(lines, rest, { indent, depth, inMapping: true })
  } while (lines.skip() === indent)
  // A deeper line continues a scalar of the line before.
  if (lines.skip() > indent) throw unsupported
  return value
}

function readSequence(lines: PlainLines, indent: number, depth: number): unknown[] {
  const items: unknown[] = []
  do {
    const line = lines.line()
    let start = indent + 1
    while (line.charAt(start) === ' ') start++
    items.push(readItem(lines, { indent, depth, start }))
  } while (lines.skip() === indent && lines.isDash(indent))
  if (lines.skip() > indent) throw unsupported
  return items
}

function readItem(lines: PlainLines, { indent, depth, start }: { indent: number; depth: number; start: number }) {
  const line = lines.line()
  // A sequence or mapping may start on the line of its dash.
  if (start < line.length && (lines.isDash(start) || readKey(line, start) !== undefined))
    return readBlock(lines, start, depth + 1)
  lines.at++
  return readValue(lines, trimBlanks(line, start), { indent, depth, inMapping: false })
}

/** The value after a key or a dash, or on the lines below it. */
function readValue(
  lines: PlainLines,
  rest: string,
  { indent, depth, inMapping }: { indent: number; depth: number; inMapping: boolean },
): unknown {
  const chomp = literals.get(rest)
  if (chomp !== undefined) return lines.readLiteral(indent, chomp)
  if (rest !== '') return readPlainScalar(rest)
  const next = lines.skip()
  if (next > indent) return readBlock(lines, next, depth + 1)
  // The dashes of a sequence may have the indentation of its key.
  return inMapping && next === indent && lines.isDash(indent) ? readSequence(lines, indent, depth + 1) : null
}

function readKey(line: string, start: number): { readonly key: string; readonly start: number } | undefined {
  keyPattern.lastIndex = start
  const found = keyPattern.exec(line)
  if (found === null) return undefined
  const [whole, plain, quoted] = found
  if (whole.length > maxKeyLength || (plain !== undefined && truths.test(plain))) throw unsupported
  return { key: plain ?? (JSON.parse(quoted ?? '') as string), start: start + whole.length }
}

function trimBlanks(line: string, start: number): string {
  let end = line.length
  while (end > start && line.charAt(end - 1) === ' ') end--
  return line.slice(start, end)
}

function fail(): never {
  throw unsupported
}

/** Thrown for a text that is not in the plain form. */
const unsupported = Symbol('not in the plain form')

/** The lines of a text with the current position. */
class PlainLines {
  readonly #lines: readonly string[]
  at = 0

  constructor(text: string) {
    // A final line feed does not start another line.
    this.#lines = text.split('\n').slice(0, -1)
  }

  line(): string {
    return this.#lines[this.at] ?? ''
  }

  /** Moves to the next line that is neither blank nor a comment; returns its indentation, or -1 at the end. */
  skip(): number {
    for (; this.at < this.#lines.length; this.at++) {
      const line = this.line()
      const indent = indentOf(line)
      if (indent === line.length) continue
      const char = line.charAt(indent)
      if (char === '\t') throw unsupported
      if (char !== '#') return indent
    }
    return -1
  }

  /** Whether an item of a sequence starts at a column of the current line. */
  isDash(column: number): boolean {
    const line = this.line()
    return line.charAt(column) === '-' && (column + 1 === line.length || line.charAt(column + 1) === ' ')
  }

  /** Reads a literal block that is indented by more than `indent`; `chomp` is the chomping indicator for its final line feeds. */
  readLiteral(indent: number, chomp: '' | '-' | '+'): string {
    const texts: string[] = []
    let blockIndent = -1
    let widest = 0
    for (; this.at < this.#lines.length; this.at++) {
      const line = this.line()
      const before = indentOf(line)
      if (before === line.length) {
        widest = Math.max(widest, before)
        texts.push('')
        continue
      }
      if (blockIndent === -1) blockIndent = before
      if (before < blockIndent) break
      if (blockIndent <= indent || line.trim() === '') throw unsupported
      texts.push(line.slice(blockIndent))
    }
    // Blank lines that are wider than the indentation contain spaces of the text.
    if (blockIndent <= indent || widest > blockIndent || this.skip() > indent) throw unsupported
    return chompText(texts, chomp)
  }
}

function chompText(texts: readonly string[], chomp: '' | '-' | '+'): string {
  const last = texts.findLastIndex((text) => text !== '')
  const body = texts.slice(0, last + 1).join('\n')
  if (chomp === '-') return body
  return `${body}\n${chomp === '+' ? '\n'.repeat(texts.length - 1 - last) : ''}`
}

function indentOf(line: string): number {
  let indent = 0
  while (line.charCodeAt(indent) === 0x20) indent++
  return indent
}

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
function readPlainScalar(text: string): unknown {
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
