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

/** Sets one value in a JSON text, comments and formatting of the rest untouched. An empty text counts as `{}`. */
export function setInJson(text: string, path: readonly string[], value: unknown, file: string): string {
  const mark = text.startsWith('\ufeff') ? '\ufeff' : ''
  const before = text.trim() === '' ? '{}\n' : text.slice(mark.length)
  let holder = readTree(before, file)
  for (const [depth, key] of path.entries()) {
    if (holder.type !== 'object') {
      const what = depth === 0 ? 'the file' : `"${path[depth - 1]}"`
      throw new TooldexError('CLIENT_CONFIG_INVALID', `${file}: ${what} is not an object.`)
    }
    const held = findNodeAtLocation(holder, [key])
    if (held === undefined) return mark + insert(before, holder, depth, nest(path.slice(depth), value))
    holder = held
  }
  return (
    mark +
    before.slice(0, holder.offset) +
    write(value, before, path.length) +
    before.slice(holder.offset + holder.length)
  )
}

/** Removes one value from a JSON text; where it is not there the text stays as it is. */
export function removeFromJson(text: string, path: readonly string[], file: string): string {
  const mark = text.startsWith('\ufeff') ? '\ufeff' : ''
  const before = text.slice(mark.length)
  if (before.trim() === '' || findNodeAtLocation(readTree(before, file), [...path]) === undefined) return text
  const edits = modify(before, [...path], undefined, {})
  return mark + applyEdits(before, edits)
}

/** The value under the keys that do not exist yet. */
const nest = ([key = '', ...rest]: readonly string[], value: unknown): readonly [string, unknown] => {
  return [key, rest.length === 0 ? value : Object.fromEntries([nest(rest, value)])]
}

/** Puts a property in as the last of an object; what stands between the one before and the closing brace stays there. */
function insert(text: string, holder: Node, depth: number, [key, value]: readonly [string, unknown]): string {
  const last = holder.children?.at(-1)
  const start = last === undefined ? holder.offset + 1 : last.offset + last.length
  const end = holder.offset + holder.length - 1
  const between = text.slice(start, end).trimEnd()
  const comma = last === undefined || stripComments(between).includes(',') ? '' : ','
  const line = lineStart(text, depth + 1) + JSON.stringify(key)
  return `${text.slice(0, start)}${comma}${between}${line}: ${write(value, text, depth + 1)}${lineStart(text, depth)}${text.slice(end)}`
}

/** A value laid out as the rest of the text is, its first line where it stands. */
function write(value: unknown, text: string, depth: number): string {
  return JSON.stringify(value, null, indentOf(text)).replaceAll('\n', lineStart(text, depth))
}

const lineStart = (text: string, depth: number) =>
  (text.includes('\r\n') ? '\r\n' : '\n') + indentOf(text).repeat(depth)

/** How far the first property stands in. */
const indentOf = (text: string) => /^([ \t]+)"/m.exec(text)?.[1] ?? '  '

function readTree(text: string, file: string): Node {
  const problems: ParseError[] = []
  const root = parseTree(text, problems, { allowTrailingComma: true, disallowComments: false })
  const [problem] = problems
  if (problem === undefined && root !== undefined) return root
  const lines = text.slice(0, problem?.offset ?? 0).split('\n')
  const place = `${file}:${lines.length}:${(lines.at(-1)?.length ?? 0) + 1}`
  const reason = problem === undefined ? 'ValueExpected' : printParseErrorCode(problem.error)
  throw new TooldexError('CLIENT_CONFIG_INVALID', `${place}: is not valid JSON (${reason}).`)
}
