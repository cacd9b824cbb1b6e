import {
  applyEdits,
  findNodeAtLocation,
  modify,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
  stripComments,
} from 'jsonc-parser'
import { TooldexError } from '../base/errors.ts'

/** Sets one value in a JSON text and preserves comments and formatting of the rest. An empty text counts as `{}`. */
export function setInJsonText(text: string, path: readonly string[], value: unknown, file: string): string {
  const byteOrderMark = text.startsWith('\ufeff') ? '\ufeff' : ''
  const before = text.trim() === '' ? '{}\n' : text.slice(byteOrderMark.length)
  let parent = readTree(before, file)
  for (const [depth, key] of path.entries()) {
    if (parent.type !== 'object') {
      const subject = depth === 0 ? 'the file' : `"${path[depth - 1]}"`
      throw new TooldexError('CLIENT_CONFIG_INVALID', `${file}: ${subject} is not an object.`)
    }
    const child = findNodeAtLocation(parent, [key])
    if (child === undefined) return byteOrderMark + insert(before, parent, depth, nest(path.slice(depth), value))
    parent = child
  }
  return (
    byteOrderMark +
    before.slice(0, parent.offset) +
    write(value, before, path.length) +
    before.slice(parent.offset + parent.length)
  )
}

/** Removes one value from a JSON text; returns the text unchanged if the value does not exist. */
export function removeFromJsonText(text: string, path: readonly string[], file: string): string {
  const byteOrderMark = text.startsWith('\ufeff') ? '\ufeff' : ''
  const before = text.slice(byteOrderMark.length)
  if (before.trim() === '' || findNodeAtLocation(readTree(before, file), [...path]) === undefined) return text
  const edits = modify(before, [...path], undefined, {})
  return byteOrderMark + applyEdits(before, edits)
}

/** The value under the keys that do not exist yet. */
const nest = ([key = '', ...rest]: readonly string[], value: unknown): readonly [string, unknown] => {
  return [key, rest.length === 0 ? value : Object.fromEntries([nest(rest, value)])]
}

/** Inserts a property as the last of an object; comments between the previous one and the closing brace are preserved. */
function insert(text: string, parent: Node, depth: number, [key, value]: readonly [string, unknown]): string {
  const last = parent.children?.at(-1)
  const start = last === undefined ? parent.offset + 1 : last.offset + last.length
  const end = parent.offset + parent.length - 1
  const between = text.slice(start, end).trimEnd()
  const comma = last === undefined || stripComments(between).includes(',') ? '' : ','
  const line = lineStart(text, depth + 1) + JSON.stringify(key)
  return `${text.slice(0, start)}${comma}${between}${line}: ${write(value, text, depth + 1)}${lineStart(text, depth)}${text.slice(end)}`
}

/** A value in the indentation and line endings of the text, without indentation of its first line. */
function write(value: unknown, text: string, depth: number): string {
  return JSON.stringify(value, null, indentOf(text)).replaceAll('\n', lineStart(text, depth))
}

const lineStart = (text: string, depth: number) =>
  (text.includes('\r\n') ? '\r\n' : '\n') + indentOf(text).repeat(depth)

/** The indentation of the first property. */
const indentOf = (text: string) => /^([ \t]+)"/m.exec(text)?.[1] ?? '  '

function readTree(text: string, file: string): Node {
  const problems: ParseError[] = []
  const root = parseTree(text, problems, { allowTrailingComma: true, disallowComments: false })
  const [problem] = problems
  if (problem === undefined && root !== undefined) return root
  const lines = text.slice(0, problem?.offset ?? 0).split('\n')
  const location = `${file}:${lines.length}:${(lines.at(-1)?.length ?? 0) + 1}`
  const reason = problem === undefined ? 'ValueExpected' : printParseErrorCode(problem.error)
  throw new TooldexError('CLIENT_CONFIG_INVALID', `${location}: is not valid JSON (${reason}).`)
}
