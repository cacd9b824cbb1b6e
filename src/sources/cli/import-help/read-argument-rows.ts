import { type HelpEntry, readEntries } from './read-entries.ts'
import type { Section } from './split-help.ts'
import { takeWord } from './take-word.ts'

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
