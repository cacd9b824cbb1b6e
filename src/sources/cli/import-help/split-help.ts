import { takeWord } from './read-value.ts'

const maxChars = 1024 * 1024
const maxLineChars = 1000
const tabStop = 8

// Colours and cursor moves (CSI), titles and links (OSC), and the short escapes.
const escapes = /\u001b\[[0-?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|\u001b[@-Z\\-_]?/g
const invisible =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]|\p{Surrogate}/gu

/** A help text as plain lines: no colours, no overstrikes, no tabs, nothing invisible, bounded in size. */
export function cleanHelpText(raw: string): readonly string[] {
  const plain = raw.slice(0, maxChars).replace(escapes, '').replace(/\r\n?/g, '\n')
  const lines = plain
    .split('\n')
    .map((line) => expandTabs(applyBackspaces(line)).replace(invisible, '').trimEnd().slice(0, maxLineChars))
  return indentGrids(splitColumns(lines))
}

// A row with an option, its text, and after a gap another option: `-f  freshen   -u  update`.
const twoOptions = /^\s+-\S.*?\s{2}(?=-\S+(?:\s\S+)?\s{2,}\S)/
const minRows = 3

/** Options in two columns (zip) as one column: rows are cut where several of them have their second option. */
function splitColumns(lines: readonly string[]): readonly string[] {
  const columns = lines.map((line) => twoOptions.exec(line)?.[0].length)
  const count = (column: number) => columns.filter((each) => each === column).length
  return lines.flatMap((line, at) => {
    const column = columns[at]
    if (column === undefined || count(column) < minRows) return [line]
    return [line.slice(0, column).trimEnd(), ' '.repeat(indentOf(line)) + line.slice(column)]
  })
}

const nameRow = /^[a-z][\w.:-]*(?: {2,}[a-z][\w.:-]*)*$/i
const gridRow = /^\S+(?: {2,}\S+){2,}$/

/** Indents the names of commands that stand in columns at the margin below their heading (openssl). */
function indentGrids(lines: readonly string[]): readonly string[] {
  let isGrid = false
  return lines.map((line, at) => {
    const startsGrid = gridRow.test(line) && /^\S.*\bcommands\b/i.test(lines[at - 1] ?? '')
    isGrid = nameRow.test(line) && (isGrid || startsGrid)
    return isGrid ? `  ${line}` : line
  })
}

/** `N\bNA\bA` and `_\bN_\bA`, the bold and underlined text of manuals, both read `NA`. */
function applyBackspaces(line: string): string {
  if (!line.includes('\b')) return line
  const kept: string[] = []
  for (const char of line) {
    if (char === '\b') kept.pop()
    else kept.push(char)
  }
  return kept.join('')
}

function expandTabs(line: string): string {
  if (!line.includes('\t')) return line
  let expanded = ''
  for (const part of line.split(/(\t)/)) {
    expanded += part === '\t' ? ' '.repeat(tabStop - (expanded.length % tabStop)) : part
  }
  return expanded
}

/** How far a line is indented. */
export const indentOf = (line: string): number => line.length - line.trimStart().length

/** The subject of a section. */
type SectionKind = 'preamble' | 'usage' | 'options' | 'shared' | 'commands' | 'arguments' | 'examples' | 'other'

/** A heading and the lines under it; the preamble has none. */
export interface Section {
  readonly kind: SectionKind
  readonly heading: string
  readonly lines: readonly string[]
}

const maxHeadingIndent = 3
const maxHeadingChars = 120

/** Cuts a help text at its headings. */
export function splitHelp(lines: readonly string[]): readonly Section[] {
  const sections: { kind: SectionKind; heading: string; lines: string[] }[] = []
  let current = { kind: 'preamble' as SectionKind, heading: '', lines: [] as string[] }
  sections.push(current)
  for (const [index, line] of lines.entries()) {
    const usage = /^\s{0,3}usage(?:\s*:|$)(.*)$/i.exec(line)
    if (usage !== null) {
      current = { kind: 'usage', heading: 'usage', lines: usage[1]?.trim() ? [usage[1].trim()] : [] }
      sections.push(current)
    } else if (isHeading(lines, index)) {
      current = { kind: kindOf(line), heading: line.trim().replace(/:$/, ''), lines: [] }
      sections.push(current)
    } else current.lines.push(line)
  }
  return sections
}

function isHeading(lines: readonly string[], index: number): boolean {
  const line = lines[index] ?? ''
  const text = line.trim()
  const indent = indentOf(line)
  if (!/^[A-Za-z*]/.test(text) || indent > maxHeadingIndent || text.length > maxHeadingChars || / {2}/.test(text))
    return false
  if (indent === 0 && /^[A-Z][A-Z -]+$/.test(text) && !text.includes(' - ')) return true
  if (text.endsWith(':')) return opensList(lines, index, indent)
  // git sets its headings without a colon, right above what they head and below an empty line.
  const next = lines[index + 1] ?? ''
  const above = lines[index - 1] ?? ''
  return indent === 0 && above === '' && /^\s+(?:-\S|[a-z][\w-]* {2,}\S)/.test(next)
}

/** A colon heads a list where what follows is set in, or is a synopsis in brackets. */
function opensList(lines: readonly string[], index: number, indent: number): boolean {
  const next = lines.slice(index + 1, index + 4).find((line) => line !== '')
  return next !== undefined && (indentOf(next) > indent || /^\s*[[-]/.test(next) || isNamedList(lines[index] ?? ''))
}

const isNamedList = (line: string) => /^(?:options|flags|usage|commands|arguments):$/i.test(line.trim())

const kinds: readonly (readonly [SectionKind, RegExp])[] = [
  ['usage', /^(?:usage|synopsis)\b/i],
  ['examples', /\bexamples?\b/i],
  ['examples', /^(?:environment|exit|see also|notes?|files|bugs|authors?|aliases|alias)\b/i],
  ['shared', /^(?:global|general|common|inherited|parent|universal)\b.*\b(?:options|flags)\b/i],
  ['options', /\b(?:options|flags|switches)\b/i],
  ['arguments', /^(?:positional |required |optional )?(?:arguments|positionals|args|parameters|operands)\b/i],
  ['commands', /\b(?:sub-?)?commands\b(?!.*\bline\b)/i],
]

const kindOf = (heading: string): SectionKind =>
  kinds.find(([, pattern]) => pattern.test(heading.trim()))?.[0] ?? 'other'

/** One row of a list of definitions: what is defined, and the lines that say what it is. */
export interface HelpEntry<T> {
  readonly item: T
  readonly indent: number
  /** The words of the first paragraph, joined. */
  readonly text: string
  /** Every line about it, later paragraphs too. */
  readonly lines: readonly string[]
}

/** Reads the start of a row; undefined where a line is not one. */
type RowStart<T> = (line: string) => { readonly item: T; readonly text: string } | undefined

interface Open<T> {
  readonly item: T
  readonly indent: number
  /** Where its text begins, once known. */
  column: number | undefined
  readonly paragraphs: string[][]
}

const maxLines = 60

/**
 * Reads a list of definitions, whichever way its texts are wrapped:
 *
 *   -a, --all    text beside it,          --all
 *                wrapped to its column        text below it
 */
export function readHelpEntries<T>(lines: readonly string[], start: RowStart<T>): readonly HelpEntry<T>[] {
  const entries: Open<T>[] = []
  let open: Open<T> | undefined
  let blank = false
  for (const line of lines) {
    const text = line.trim()
    if (text === '') blank = true
    else {
      const continued = open !== undefined && continues(open, line, blank, start)
      if (open !== undefined && continued) append(open, line, blank)
      else {
        open = openRow(line, start)
        if (open !== undefined) entries.push(open)
      }
      blank = false
    }
  }
  return entries.map(close)
}

function openRow<T>(line: string, start: RowStart<T>): Open<T> | undefined {
  const row = start(line)
  if (row === undefined) return undefined
  const column = row.text === '' ? undefined : line.trimEnd().length - row.text.length
  return { item: row.item, indent: indentOf(line), column, paragraphs: row.text === '' ? [] : [[row.text]] }
}

function continues<T>(open: Open<T>, line: string, blank: boolean, start: RowStart<T>): boolean {
  const indent = indentOf(line)
  if (open.column !== undefined && indent >= open.column && indent > open.indent) return true
  return !blank && indent > open.indent && start(line) === undefined
}

function append<T>(open: Open<T>, line: string, blank: boolean): void {
  open.column ??= indentOf(line)
  if (open.paragraphs.flat().length >= maxLines) return
  const last = open.paragraphs.at(-1)
  if (last === undefined || blank) open.paragraphs.push([line.trim()])
  else last.push(line.trim())
}

function close<T>({ item, indent, paragraphs }: Open<T>): HelpEntry<T> {
  return { item, indent, text: (paragraphs[0] ?? []).join(' '), lines: paragraphs.flat() }
}

/** A row of a list of arguments: `<FILE>...`, `infile`, `{a,b}`. */
export type ArgumentRow = HelpEntry<string>

/** The rows of the lists of arguments. */
export function readArgumentRows(sections: readonly Section[]): readonly ArgumentRow[] {
  return sections
    .filter((section) => section.kind === 'arguments')
    .flatMap((section) => readHelpEntries(section.lines, startArgument))
}

/** The start of a row about an argument. */
export function startArgument(line: string) {
  const trimmed = line.trim()
  const written = takeWord(trimmed)
  const item = /^ \.\.\./.test(trimmed.slice(written.length)) ? `${written} ...` : written
  const text = trimmed.slice(item.length)
  if (!/^[\w<[{]/.test(item) || (text !== '' && !/^ {2,}|^:/.test(text))) return undefined
  return { item, text: text.replace(/^:/, '').trim() }
}
