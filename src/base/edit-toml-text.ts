import { parse, stringify, type TomlTable } from 'smol-toml'
import { TooldexError } from './errors.ts'

/** Sets one table in a TOML text; everything outside it stays as it was written. */
export function setTomlTable(text: string, path: readonly [string, string], table: TomlTable, file: string): string {
  const before = read(text, file)
  const written = `[${path.map(quoteKey).join('.')}]\n${stringify(table).trim()}\n`
  const lines = text.split('\n')
  const own = lines.findIndex((line) => isHeader(line, path, false))
  const start = own < 0 ? lines.length : own
  const length = own < 0 ? 0 : lines.slice(own + 1).findIndex((line) => /^\s*\[/.test(line) && !isHeader(line, path, true))
  const end = own < 0 ? lines.length : length < 0 ? lines.length : own + 1 + length
  const head = lines.slice(0, start).join('\n').trimEnd()
  const tail = lines.slice(end).join('\n')
  const after = [head, written.trimEnd(), tail.trim() === '' ? '' : tail.trimEnd()].filter((part) => part !== '').join('\n\n')
  const result = `${after}\n`
  requireOnlyChange(before, read(result, file), path, file)
  return result
}

function read(text: string, file: string): TomlTable {
  try {
    return parse(text)
  } catch (cause) {
    const [first = 'unknown error'] = (cause as Error).message.split('\n')
    const { line = 1, column = 1 } = cause as { line?: number; column?: number }
    throw new TooldexError('CLIENT_CONFIG_INVALID', `${file}:${line}:${column}: is not valid TOML (${first}).`, { cause })
  }
}

/** Whether a line opens the table, or with `inside` one of its sub-tables. */
function isHeader(line: string, path: readonly string[], inside: boolean): boolean {
  const name = /^\s*\[\s*([^[\]]+?)\s*\]/.exec(line)?.[1]?.replaceAll(/["'\s]/g, '')
  return inside ? (name?.startsWith(`${path.join('.')}.`) ?? false) : name === path.join('.')
}

// Editing text by lines is only safe if reading it back shows that nothing else moved.
function requireOnlyChange(before: TomlTable, after: TomlTable, [group, name]: readonly [string, string], file: string): void {
  const rest = (root: TomlTable) => {
    const { [group]: held, ...others } = root
    const { [name]: _, ...siblings } = (held ?? {}) as TomlTable
    return stringify({ ...others, [group]: siblings })
  }
  if (rest(before) === rest(after)) return
  throw new TooldexError('CLIENT_CONFIG_INVALID', `${file}: cannot be changed without touching other settings.`, {
    hint: 'Write the table by hand; --dry-run shows it.',
  })
}

const quoteKey = (key: string) => (/^[A-Za-z0-9_-]+$/.test(key) ? key : JSON.stringify(key))
