import type { HelpValue } from './parsed-help.ts'
import { bracketLength } from './take-word.ts'

/** How the value stood behind its option. */
interface ValuePlace {
  readonly optional?: boolean
  readonly inline?: boolean
}

const plainWord = /^[\w.+:@-]+$/
// Words that name a kind of value, so that `<data|filename>` is not taken for a choice of two values.
const kinds = new Set(
  'args bool branch bytes cmd command commit count data date dest dir directory enum file filename files filter folder format glob group host hostname id int integer json key label level list mode n name names num number object package path pathspec pattern pid pkg port range ref regex rev revision size spec str string tag target text time type uid gid uri url user value version when word'.split(
    ' ',
  ),
)

/** Reads what stands behind an option: `<FILE>`, `[=WHEN]`, `{a,b}`, `N [N ...]`, `string`. */
export function readValue(text: string, { optional = false, inline = false }: ValuePlace = {}): HelpValue {
  const trimmed = text.trim()
  const many = /\.\.\./.test(trimmed) && trimmed !== '...'
  const { choices, sure } = readChoices(trimmed)
  const name = cleanName(trimmed)
  const bracketed = trimmed.startsWith('[') && bracketLength(trimmed) === trimmed.length && choices.length === 0
  return {
    name: choices.length > 0 ? '' : name,
    written: trimmed,
    optional: optional || (bracketed && !many),
    inline,
    choices,
    sureChoices: sure,
    words: many && /\s/.test(trimmed) && !inline ? 'many' : countWords(trimmed, choices),
  }
}

/** Whether a value, as written, may be given any number of times: `<FILE>...`. */
export const isOpenEnded = (text: string): boolean =>
  /[^\s.=]\.\.\.[\])>]*$/.test(text.trim()) && !/\s/.test(text.trim())

/** The values listed in `{a,b}`, `[a|b]`, `(a|b)` or `<a|b>`. */
export function readChoices(text: string): { readonly choices: readonly string[]; readonly sure: boolean } {
  const inner = unwrap(text.replace(/\.\.\.$/, ''))
  const commas = inner.startsWith('{') || text.includes('{')
  const bare = unwrap(inner).trim()
  const parts = bare.split(commas && !bare.includes('|') ? ',' : '|').map((part) => part.trim())
  const none = { choices: [], sure: false }
  if (parts.length < 2 || !parts.every((part) => plainWord.test(part))) return none
  // In `{ COMMAND | help }` one of the two is a name.
  if (parts.some(isMetavar) && !parts.every(isMetavar)) return none
  const angled = text.includes('<') || !/[{[(]/.test(text)
  if (angled && !text.includes('{') && parts.some((part) => kinds.has(part.toLowerCase()) || isMetavar(part)))
    return none
  return { choices: [...new Set(parts)], sure: !angled || text.includes('{') }
}

const isMetavar = (word: string) => /^[A-Z][A-Z0-9_-]+$/.test(word)

/** Two metavars side by side are two words on the command line; `INTEGER RANGE` and `<file name>` are one. */
function countWords(text: string, choices: readonly string[]): number {
  if (choices.length > 0 || / RANGE$/.test(text)) return 1
  const words = text.match(/<[^<>]*>|[^\s<>]+/g) ?? []
  const all = words.every((word) => /^<.*>$/.test(word) || /^[A-Z][A-Z0-9_-]*$/.test(word) || /^[a-z]$/.test(word))
  return all && /\s/.test(text) ? Math.max(words.length, 1) : 1
}

function unwrap(text: string): string {
  const trimmed = text.trim()
  return /^[[(<{]/.test(trimmed) && bracketLength(trimmed) === trimmed.length ? trimmed.slice(1, -1) : trimmed
}

/** Parts in square brackets may be left out: `MAJOR[.MINOR]` is a `MAJOR`, `[user@]host` a `host`. */
function cleanName(text: string): string {
  const core = text.replace(/\[[^[\]]*\]/g, '').replace(/\[[^[\]]*\]/g, '')
  return (/\w/.test(core) ? core : text)
    .replace(/\.\.\./g, ' ')
    .replace(/[[(][-+.=:|,/]*[\])]/g, ' ')
    .replace(/[<>[\]{}()"'`]/g, ' ')
    .replace(/^\+(?=int)/, '')
    .replace(/\s+/g, ' ')
    .trim()
}
