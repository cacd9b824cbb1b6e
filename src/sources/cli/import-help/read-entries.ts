import { takeWord } from './read-value.ts'
import { indentOf, type Section } from './split-help.ts'

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
export function readEntries<T>(lines: readonly string[], start: RowStart<T>): readonly HelpEntry<T>[] {
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
    .flatMap((section) => readEntries(section.lines, startArgument))
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
