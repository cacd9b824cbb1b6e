import { PlainLines, unsupported } from './plain-yaml-lines.ts'
import { readPlainScalar } from './plain-yaml-scalar.ts'
import { refusedKeys } from './yaml-document.ts'

// Which key stands at a place of a line, whatever follows it.
const keyPattern = /(?:([A-Za-z_$][\w.$-]*)|("(?:[^"\\]|\\.)*")):(?: +|$)/y
const truths = /^(?:true|false|null)$/i
const maxKeyLength = 500
const deepest = 100
const literals = new Map<string, '' | '-' | '+'>(Object.entries({ '|': '', '|-': '-', '|+': '+' }))
// Line ends of other systems, and what begins or ends a document.
const otherForm = /\r|^\ufeff|^(?:---|\.\.\.|%)/m

/**
 * Reads YAML in the plain form that programs write: block mappings and lists, values on one line, literal blocks. Gives nothing
 * for any other text, be it right or wrong: the full reader, a hundred times slower, knows what to say of it.
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
  if (depth > deepest) throw unsupported
  return lines.isDash(indent) ? readList(lines, indent, depth) : readMapping(lines, indent, depth)
}

function readMapping(lines: PlainLines, indent: number, depth: number): Record<string, unknown> {
  const value: Record<string, unknown> = {}
  do {
    const { key, start } = readKey(lines.line(), indent) ?? fail()
    if (refusedKeys.has(key) || Object.hasOwn(value, key)) throw unsupported
    const rest = trimBlanks(lines.line(), start)
    lines.at++
    value[key] = readHeld(lines, rest, { indent, depth, inMapping: true })
  } while (lines.skip() === indent)
  // What stands deeper goes on with a text that began on a line before.
  if (lines.skip() > indent) throw unsupported
  return value
}

function readList(lines: PlainLines, indent: number, depth: number): unknown[] {
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
  // A list or mapping may begin on the line of its dash.
  if (start < line.length && (lines.isDash(start) || readKey(line, start) !== undefined))
    return readBlock(lines, start, depth + 1)
  lines.at++
  return readHeld(lines, trimBlanks(line, start), { indent, depth, inMapping: false })
}

/** What stands behind a key or a dash, or below it. */
function readHeld(
  lines: PlainLines,
  rest: string,
  { indent, depth, inMapping }: { indent: number; depth: number; inMapping: boolean },
): unknown {
  const chomp = literals.get(rest)
  if (chomp !== undefined) return lines.readLiteral(indent, chomp)
  if (rest !== '') return readPlainScalar(rest)
  const next = lines.skip()
  if (next > indent) return readBlock(lines, next, depth + 1)
  // The dashes of a list may stand right below the key that holds it.
  return inMapping && next === indent && lines.isDash(indent) ? readList(lines, indent, depth + 1) : null
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
