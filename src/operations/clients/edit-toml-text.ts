import { parse, stringify, type TomlTable } from 'smol-toml'
import { TooldexError } from '../../base/errors.ts'
import { firstLine } from '../../diagnostics/sentences.ts'

/** Sets one table in a TOML text; everything else stays as it is written. */
export function setTomlTable(text: string, path: readonly [string, string], table: TomlTable, file: string): string {
  const { env, ...flat } = table
  const head = `[${path.map(quoteKey).join('.')}]\n${stringify(flat).trim()}`
  const inner =
    env === undefined ? '' : `\n\n[${[...path, 'env'].map(quoteKey).join('.')}]\n${stringify(env as TomlTable).trim()}`
  return replaceTable(text, path, head + inner, file)
}

/** Removes one table and its sub-tables; if it is absent, the text is unchanged. */
export function removeTomlTable(text: string, path: readonly [string, string], file: string): string {
  const [start, end] = findTable(text.split('\n'), path)
  read(text, file)
  return start === end ? text : replaceTable(text, path, '', file)
}

function replaceTable(text: string, path: readonly [string, string], table: string, file: string): string {
  const before = read(text, file)
  const eol = text.includes('\r\n') ? '\r\n' : '\n'
  const written = table.replaceAll('\n', eol)
  const lines = text.split('\n')
  const [start, end] = findTable(lines, path)
  const head = lines.slice(0, start).join('\n').trimEnd()
  const tail = lines
    .slice(end)
    .join('\n')
    .replace(/^\s*\n/, '')
    .trimEnd()
  const result = [head, written, tail].filter((part) => part !== '').join(eol + eol) + eol
  requireOnlyChange(before, result, path, file)
  return result
}

function read(text: string, file: string): TomlTable {
  try {
    return parse(text)
  } catch (cause) {
    const first = firstLine((cause as Error).message) || 'unknown error'
    const { line = 1, column = 1 } = cause as { line?: number; column?: number }
    throw new TooldexError('CLIENT_CONFIG_INVALID', `${file}:${line}:${column}: is not valid TOML (${first}).`, {
      cause,
    })
  }
}

/** The lines of a table with its sub-tables, or the end of the text where there is none. */
function findTable(lines: readonly string[], path: readonly string[]): readonly [number, number] {
  const start = lines.findIndex((line) => headerPath(line)?.join('\0') === path.join('\0'))
  if (start < 0) return [lines.length, lines.length]
  const next = lines.findIndex((line, index) => {
    const header = index > start ? headerPath(line) : undefined
    return header !== undefined && !path.every((key, depth) => header[depth] === key)
  })
  let end = next < 0 ? lines.length : next
  // A comment over the next table belongs to that one.
  while (/^\s*(#.*)?$/.test(lines[end - 1] ?? '-')) end--
  return [start, end]
}

/** The keys of a `[table]` or `[[table]]` line; undefined for any other. */
function headerPath(line: string): readonly string[] | undefined {
  if (!/^\s*\[/.test(line)) return undefined
  try {
    const keys: string[] = []
    for (let value: unknown = parse(line.trim()); ; ) {
      const [entry] = Object.entries(Array.isArray(value) ? (value[0] as object) : (value as object))
      if (entry === undefined) return keys
      keys.push(entry[0])
      value = entry[1]
    }
  } catch {
    return undefined
  }
}

// Line-based editing is only safe if parsing the result shows that nothing else changed.
function requireOnlyChange(
  before: TomlTable,
  text: string,
  [group, name]: readonly [string, string],
  file: string,
): void {
  const rest = (root: TomlTable) => {
    const { [group]: table, ...others } = root
    const { [name]: _, ...siblings } = (table ?? {}) as TomlTable
    return stringify({ ...others, [group]: siblings })
  }
  try {
    if (rest(before) === rest(parse(text))) return
  } catch {
    // The text was valid before, so the change conflicts with it.
  }
  throw new TooldexError('CLIENT_CONFIG_INVALID', `${file}: cannot be changed without touching other settings.`, {
    hint: 'Write the table by hand; --dry-run shows it.',
  })
}

const quoteKey = (key: string) => (/^[A-Za-z0-9_-]+$/.test(key) ? key : JSON.stringify(key))
