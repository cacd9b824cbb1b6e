import { applyEdits, modify, type ParseError, parse, printParseErrorCode } from 'jsonc-parser'
import { TooldexError } from './errors.ts'

/** Sets one value in a JSON text, comments and formatting of the rest untouched. An empty text counts as `{}`. */
export function setInJson(text: string, path: readonly string[], value: unknown, file: string): string {
  const before = text.trim() === '' ? '{}\n' : text
  const problems: ParseError[] = []
  const root: unknown = parse(before, problems, { allowTrailingComma: true, disallowComments: false })
  const [problem] = problems
  if (problem !== undefined) {
    const lines = before.slice(0, problem.offset).split('\n')
    const place = `${file}:${lines.length}:${(lines.at(-1)?.length ?? 0) + 1}`
    throw new TooldexError('CLIENT_CONFIG_INVALID', `${place}: is not valid JSON (${printParseErrorCode(problem.error)}).`)
  }
  requireObjects(root, path, file)
  const indent = /^[ \t]+/m.exec(before)?.[0] ?? '  '
  const tabs = indent.startsWith('\t')
  const formattingOptions = { insertSpaces: !tabs, tabSize: tabs ? 1 : indent.length }
  return applyEdits(before, modify(before, [...path], value, { formattingOptions }))
}

function requireObjects(root: unknown, path: readonly string[], file: string): void {
  let holder = root
  for (const key of ['', ...path.slice(0, -1)]) {
    if (key !== '') holder = (holder as Record<string, unknown>)[key]
    if (holder === undefined) return
    if (typeof holder !== 'object' || holder === null || Array.isArray(holder)) {
      throw new TooldexError('CLIENT_CONFIG_INVALID', `${file}: ${key === '' ? 'the file' : `"${key}"`} is not an object.`)
    }
  }
}
