import { parseFlagLine } from './parse-flag-line.ts'
import type { HelpOption, HelpSubcommand, ParsedHelp } from './parsed-help.ts'
import { mergeOptions, readOptionRows } from './read-option-rows.ts'
import { chooseReading, readPositionals, readUsage, type UsageContext } from './read-usage.ts'
import {
  cleanHelpText,
  indentOf,
  readArgumentRows,
  readHelpEntries,
  type Section,
  splitHelp,
  startArgument,
} from './split-help.ts'

/** Reads a help text of any of the common styles; unknown parts are omitted, never guessed. */
export function parseHelp(raw: string, words: readonly string[] = []): ParsedHelp {
  const lines = cleanHelpText(raw)
  const { sections, forms } = readSections(lines, words)
  const rows = readOptionRows(sections)
  const anywhere = forms.some((form) => /[<[]?\b(?:sub-?)?command\b/i.test(form))
  const subcommands = readSubcommands(sections, anywhere)
  const argumentRows = readArgumentRows(sections)
  const context: UsageContext = {
    words,
    subcommands: subcommands.map((command) => command.name),
    // Only names outside the brackets of options tell how positionals are written.
    marked: forms.some((form) => /<|\b[A-Z]{3,}\b/.test(form.replace(/\[-[^\]]*\]/g, ''))),
    listed: argumentRows.map((row) => row.item),
    takesValue: (flag) => takesValue(rows, flag),
  }
  const readings = forms.map((form) => readUsage(form, context))
  const own = readings.filter((reading) => reading.literals.length === 0)
  const synopses = readSynopses(sections).map((text) => readUsage(text, { ...context, marked: true }))
  const chosen = chooseReading(readings)
  return {
    summary: findSummary(sections, forms),
    forms,
    positionals: readPositionals(readings, argumentRows, context.subcommands),
    options: mergeOptions(
      rows,
      [...own, ...synopses].flatMap((reading) => reading.options),
    ),
    subcommands,
    isGroup: subcommands.length > 0 && own.every((reading) => reading.hasCommand),
    dashes: chosen?.dashes,
  }
}

function takesValue(rows: readonly HelpOption[], flag: string): boolean | undefined {
  const known = rows.find((row) => row.flags.includes(flag))
  return known === undefined ? undefined : known.value !== undefined
}

/** Whether a help text contains enough for a tool. */
export function isUsableHelp(help: ParsedHelp): boolean {
  return help.options.length > 0 || help.subcommands.length > 0 || help.positionals.length > 0 || help.forms.length > 0
}

interface SectionsAndForms {
  readonly sections: readonly Section[]
  readonly forms: readonly string[]
}

/** Cuts the text at its headings; what follows the usage lines becomes a section of its own. */
function readSections(lines: readonly string[], words: readonly string[]): SectionsAndForms {
  const forms: string[] = []
  const sections = splitHelp(lines).flatMap((section): readonly Section[] => {
    if (section.kind !== 'usage' || forms.length > 0) return [section]
    const usage = readUsageForms(section.lines)
    forms.push(...usage.forms)
    return [
      { ...section, lines: [] },
      { kind: 'preamble', heading: '', lines: usage.rest },
    ]
  })
  const program = words[0]?.split('/').at(-1) ?? ''
  return { sections, forms: forms.length > 0 ? forms : findBareUsage(sections, program) }
}

/** npm writes its options as a synopsis, `[-S|--save] [--omit <dev>]`, under the heading of the options. */
function readSynopses(sections: readonly Section[]): readonly string[] {
  return sections.flatMap((section) => {
    if (section.kind !== 'options' || !/^\s*\[-/.test(section.lines.find((line) => line !== '') ?? '')) return []
    const lines = section.lines.slice(section.lines.findIndex((line) => line !== ''))
    const end = lines.indexOf('')
    return [
      lines
        .slice(0, end < 0 ? undefined : end)
        .join(' ')
        .slice(0, 8000),
    ]
  })
}

const noise =
  /^(?:error\b|warning\b|\w+ (?:warn|err)\b|unknown\b|unrecognized\b|invalid\b|try\b|see\b|the (?:available )?commands\b|these are\b|run\b|use\b|mandatory (?:and optional )?arguments\b|\S+ v?\d+\.\d+|where\s+[A-Z]+ :=|[^\w\s])|unknown option|command not found|options? (?:needs|requires)|there are some problems/i

/** The summary of a program: the first sentence or two of prose, after the usage or before it. */
function findSummary(sections: readonly Section[], forms: readonly string[]): string {
  const usage = sections.findIndex((section) => section.kind === 'usage')
  const after = usage < 0 ? undefined : sections[usage + 1]
  const name = sections.find((section) => section.heading === 'NAME')
  const described = sections.find((section) => /^description$/i.test(section.heading))
  const manual = name?.lines.map((line) => / - (.+)$/.exec(line)?.[1] ?? '').find((line) => line !== '')
  const texts = [manual, ...[after, sections[0], described].map((section) => firstProse(section?.lines ?? [], forms))]
  return texts.find((text) => text !== undefined && text !== '') ?? ''
}

function firstProse(lines: readonly string[], forms: readonly string[]): string {
  const options = lines.findIndex((line) => line.trim().startsWith('-'))
  const texts = lines.slice(0, options < 0 ? undefined : options).map((line) => line.trim())
  const paragraphs: string[][] = [[]]
  for (const text of texts) {
    if (text === '' || forms.includes(text)) paragraphs.push([])
    else paragraphs.at(-1)?.push(text)
  }
  return paragraphs.find(isProse)?.join(' ') ?? ''
}

/** Words about the program: no complaint, no table, and not the introduction of a list, which ends in a colon. */
function isProse(lines: readonly string[]): boolean {
  const [first = ''] = lines
  const isTable = lines.some((line) => /\S {3,}\S/.test(line) || line.startsWith('['))
  return /[a-z]{2}/i.test(first) && !noise.test(first) && !isTable && !lines.at(-1)?.endsWith(':')
}

/** The usage lines of a help text, each joined to one line, and the lines that follow them. */
interface UsageForms {
  readonly forms: readonly string[]
  readonly rest: readonly string[]
}

const maxForms = 30
const maxFormChars = 4000

/** Collects the usage lines of a usage section: each starts with the program's name or `or:`, others continue it. */
function readUsageForms(lines: readonly string[]): UsageForms {
  const first = lines.findIndex((line) => line !== '')
  if (first < 0) return { forms: [], rest: [] }
  const program = firstWord(lines[first] ?? '')
  const forms: string[] = []
  let index = first
  for (; index < lines.length; index++) {
    const line = lines[index] ?? ''
    if (line === '' || (forms.length > 0 && isOptionRow(line))) break
    const isNew = forms.length === 0 || /^\s*or:/i.test(line) || firstWord(line) === program
    if (!isNew && indentOf(line) === 0) break
    const text = line.trim().replace(/^or:\s*/i, '')
    if (isNew) forms.push(text)
    else forms.push(`${forms.pop()} ${text}`)
  }
  return { forms: forms.slice(0, maxForms).map((form) => form.slice(0, maxFormChars)), rest: lines.slice(index) }
}

/** An option with words about it, where a usage line would have more options or brackets. */
const isOptionRow = (line: string) => /^[A-Za-z("'`][^[|]* /.test(`${parseFlagLine(line)?.text ?? ''} `)

/** The usage of a text without a usage heading: a line that is a synopsis of the program itself. */
function findBareUsage(sections: readonly Section[], program: string): readonly string[] {
  const lines = sections[0]?.lines ?? []
  const line = lines.find((text) => firstWord(text) === program && /^\S+ +(?:[[<]|[A-Z]{3,})/.test(text.trim()))
  return line === undefined ? [] : [line.trim()]
}

const firstWord = (line: string) => /^\S*/.exec(line.trim())?.[0] ?? ''

const commandName = /^[a-z][\w.:-]*$/i
const notCommands = new Set(['help', 'completion', 'completions'])

/** The subcommands a help text lists; `anywhere` if the usage requires one but no heading lists them. */
function readSubcommands(sections: readonly Section[], anywhere: boolean): readonly HelpSubcommand[] {
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
  const entries = readHelpEntries(lines, startCommand)
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
  const rows = readHelpEntries(lines, startArgument)
  const parent = rows.find((row) => /^\{[^{}]+\}$/.test(row.item))
  if (parent === undefined) return []
  const names = new Set(parent.item.slice(1, -1).split(','))
  const below = rows.filter((row) => row.indent > parent.indent && names.has(row.item))
  return below.map((row) => ({ name: row.item, description: row.text, usage: '' }))
}
