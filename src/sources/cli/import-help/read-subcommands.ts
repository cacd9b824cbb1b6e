import type { HelpSubcommand } from './parsed-help.ts'
import { readEntries, startArgument } from './read-entries.ts'
import { indentOf, type Section } from './split-help.ts'

const commandName = /^[a-z][\w.:-]*$/i
const notCommands = new Set(['help', 'completion', 'completions'])

/** The subcommands a help text lists; `anywhere` if the usage requires one but no heading lists them. */
export function readSubcommands(sections: readonly Section[], anywhere: boolean): readonly HelpSubcommand[] {
  const found = sections.flatMap((section) => {
    if (section.kind === 'commands') return readCommandSection(section.lines, 1)
    if (section.kind === 'arguments') return readSubparsers(section.lines)
    return anywhere && section.kind === 'other' ? readCommandSection(section.lines, 1) : []
  })
  const unique = new Map<string, HelpSubcommand>()
  for (const command of found)
    if (!notCommands.has(command.name) && !unique.has(command.name)) unique.set(command.name, command)
  return [...unique.values()]
}

function readCommandSection(lines: readonly string[], least: number): readonly HelpSubcommand[] {
  const names = readNameList(lines)
  if (names.length > 0) return names.map((name) => ({ name, description: '', usage: '' }))
  const subparsers = readSubparsers(lines)
  if (subparsers.length > 0) return subparsers
  const entries = readEntries(lines, startCommand)
  const indent = Math.min(...entries.map((entry) => entry.indent))
  const rows = entries.filter((entry) => entry.indent === indent)
  return rows.length < least ? [] : rows.map(({ item, text }) => ({ ...item, description: text }))
}

/** `build, b   text`, `start UNIT...   text`, `list - text`, `pr:   text`. */
function startCommand(line: string): { item: { name: string; usage: string }; text: string } | undefined {
  if (indentOf(line) === 0) return undefined
  const trimmed = line.trim()
  const row = /^([a-z][\w.:-]*?)[*:]?((?:, [\w-]+)*)((?: [^\s-]\S*)*?)(?:(?: {2,}| - )(\S.*))?$/i.exec(
    trimmed.slice(0, 400),
  )
  const [, name = '', , usage = '', text = ''] = row ?? []
  if (row === null || (text === '' && usage !== '') || !isSynopsis(usage)) return undefined
  return { item: { name, usage: usage.trim() }, text }
}

const isSynopsis = (usage: string) => usage.split(' ').every((word) => /^[[<{(]|^[A-Z_.|=\]]*$/.test(word))

/** Names alone, parted by commas or in columns. */
function readNameList(lines: readonly string[]): readonly string[] {
  const used = lines.filter((line) => line !== '' && indentOf(line) > 0)
  const end = lines.findIndex((line, index) => line !== '' && indentOf(line) === 0 && index > 0)
  const block = end < 0 ? used : lines.slice(0, end).filter((line) => line !== '')
  const words = block.map((line) =>
    line
      .trim()
      .split(/,\s*|\s{2,}/)
      .filter((word) => word !== ''),
  )
  const isList = block.some((line) => /,\s*$|\w, \w/.test(line)) || words.some((row) => row.length > 2)
  return isList && words.flat().every((word) => commandName.test(word)) ? words.flat() : []
}

/** argparse lists subcommands below `{build,test}`, set in further. */
function readSubparsers(lines: readonly string[]): readonly HelpSubcommand[] {
  const rows = readEntries(lines, startArgument)
  const parent = rows.find((row) => /^\{[^{}]+\}$/.test(row.item))
  if (parent === undefined) return []
  const names = new Set(parent.item.slice(1, -1).split(','))
  const below = rows.filter((row) => row.indent > parent.indent && names.has(row.item))
  return below.map((row) => ({ name: row.item, description: row.text, usage: '' }))
}
