import type { FlagSpec } from './parse-flag-line.ts'
import type { HelpPositional } from './parsed-help.ts'
import {
  isPlaceholder,
  joinAlias,
  readUsageNodes,
  readUsageOption,
  startsWithOption,
  type UsageNode,
} from './read-usage-nodes.ts'
import { readChoices, readValueFacts } from './read-value.ts'
import type { ArgumentRow } from './split-help.ts'

/** A word of the usage line that stands for a value without a flag. */
interface UsagePositional {
  readonly name: string
  readonly required: boolean
  repeat: boolean
  readonly choices: readonly string[]
}

/** The parsed content of one usage line. */
interface UsageReading {
  readonly positionals: UsagePositional[]
  readonly options: FlagSpec[]
  /** Words to be typed as they stand: the line is about a command below this one. */
  readonly literals: string[]
  /** A place for one of the subcommands. */
  hasCommand: boolean
  /** Where `--` stands: before the first positional, or between positionals. */
  dashes: 'first' | 'later' | undefined
}

/** The context of a usage line. */
export interface UsageContext {
  /** The words of the command itself, to be passed over. */
  readonly words: readonly string[]
  readonly subcommands: readonly string[]
  /** Names stand in brackets or capitals, so a bare word is meant literally. */
  readonly marked: boolean
  /** The names in the list of arguments, however they are written. */
  readonly listed: readonly string[]
  /** Whether an option is known to take a value. */
  readonly takesValue: (flag: string) => boolean | undefined
}

interface Walk {
  readonly context: UsageContext
  readonly reading: UsageReading
}

interface Place {
  readonly required: boolean
  readonly top: boolean
  /** Behind an option, in its brackets: plain words are its values. */
  readonly behindOption?: boolean
  /** With others in the same brackets. */
  readonly among?: boolean
}

type Group = Extract<UsageNode, { kind: 'group' }>

/** Reads one usage line. */
export function readUsage(form: string, context: UsageContext): UsageReading {
  const reading: UsageReading = { positionals: [], options: [], literals: [], hasCommand: false, dashes: undefined }
  const [first = [], ...others] = readUsageNodes(form)
  const nodes = [...first, ...others.flat()]
  const start = nodes[0]?.kind === 'word' && !nodes[0].text.startsWith('-') ? 1 : 0
  const skipped = new Set(context.words)
  const own = nodes.slice(start).filter((node) => node.kind === 'group' || !skipped.has(node.text))
  walkNodes({ context, reading }, own, { required: true, top: true })
  return reading
}

function walkNodes(walk: Walk, nodes: readonly UsageNode[], outer: Place): void {
  const { context, reading } = walk
  const behindOption = outer.behindOption === true || (!outer.top && startsWithOption(nodes))
  const place = { ...outer, behindOption, among: nodes.length > 1 }
  for (let index = 0; index < nodes.length; index++) {
    const node = nodes[index] as UsageNode
    if (node.kind === 'group') {
      walkGroup(walk, node, { ...place, required: place.required && !node.optional, top: false })
    } else if (node.text === '--') reading.dashes ??= reading.positionals.length === 0 ? 'first' : 'later'
    else if (node.text.startsWith('-')) {
      const { specs, taken } = readUsageOption(nodes, index, { top: place.top, takesValue: context.takesValue })
      reading.options.push(...specs)
      index += taken
    } else if (!behindOption) readPlain(walk, node, place)
  }
}

function walkGroup(walk: Walk, group: Group, place: Place): void {
  const { positionals, options } = walk.reading
  const before = { positionals: positionals.length, options: options.length }
  if (!isPlaceholder(plainText(group))) walkAlternatives(walk, group, place)
  if (!group.repeat) return
  // `<file> [options] ...` repeats the file.
  const first = positionals.length > before.positionals ? before.positionals : Math.max(positionals.length - 1, 0)
  for (const positional of positionals.slice(first)) positional.repeat = true
  for (let index = before.options; index < options.length; index++) {
    options[index] = { ...(options[index] as FlagSpec), repeatable: true }
  }
}

/** Of several alternatives the first that is not an option gives the positionals; all give their options. */
function walkAlternatives(walk: Walk, { alternatives }: Group, place: Place): void {
  const alias = joinAlias(alternatives)
  if (alias !== undefined) {
    walkNodes(walk, alias, place)
    return
  }
  const words = alternatives.map((nodes) => (nodes.length === 1 && nodes[0]?.kind === 'word' ? nodes[0].text : ''))
  if (words.length > 2 && !place.behindOption && words.every((word) => /^[a-z][a-z-]*$/.test(word))) {
    const choices = [...new Set(words)]
    walk.reading.positionals.push({ name: 'command', required: place.required, repeat: false, choices })
    return
  }
  const isOption = alternatives.map(startsWithOption)
  const isValues = isAssignment(alternatives[0]?.at(-1))
  const isPlain = (nodes: readonly UsageNode[], index: number) => index === 0 || (isMarked(nodes) && !isValues)
  const plain = alternatives.findIndex((nodes, index) => !isOption[index] && isPlain(nodes, index))
  const required = place.required && !isOption.includes(true)
  for (const [index, nodes] of alternatives.entries()) {
    if (isOption[index] || index === plain) walkNodes(walk, nodes, { ...place, required })
  }
}

/** `--protocol=TCP|UDP`: the other alternatives are values of the first. */
const isAssignment = (node: UsageNode | undefined) => node?.kind === 'word' && /^-.*=/.test(node.text)

function isMarked([first]: readonly UsageNode[]): boolean {
  return first?.kind === 'word' && /^<|^[A-Z]{2,}/.test(first.text)
}

/** The words of a group without alternatives: `global options`. */
function plainText({ alternatives }: Group): string {
  const [nodes = [], ...others] = alternatives
  return others.length > 0 ? '[' : nodes.map((node) => (node.kind === 'word' ? node.text : '[')).join(' ')
}

function readPlain({ context, reading }: Walk, node: Extract<UsageNode, { kind: 'word' }>, place: Place): void {
  const { text } = node
  const { choices } = readChoices(text)
  const name = nameOf(text)
  if (isPlaceholder(text) || /^[+]/.test(text) || !/[A-Za-z]/.test(name) || reading.hasCommand) return
  const isBare = context.marked && /^[a-z][\w.=|-]*$/.test(text) && !node.repeat && !context.listed.includes(text)
  const isLiteral = isBare && (place.top || place.among === true)
  if (isCommand(name, choices, context)) reading.hasCommand = true
  else if (isLiteral) reading.literals.push(text)
  else addPositional(reading, { name, required: place.required, repeat: node.repeat || text.includes('...'), choices })
}

const isCommand = (name: string, choices: readonly string[], { subcommands }: UsageContext) =>
  subcommands.length > 0 &&
  (/^(?:sub-?)?commands?$/i.test(name) || choices.some((choice) => subcommands.includes(choice)))

/** `N [N ...]` is one argument with many values. */
function addPositional({ positionals }: UsageReading, next: UsagePositional): void {
  const last = positionals.at(-1)
  if (last?.name === next.name && (next.repeat || !next.required)) last.repeat = true
  else positionals.push({ ...next, repeat: next.repeat || /^arg(?:s|uments)$/i.test(next.name) })
}

function nameOf(text: string): string {
  const outer = text.replace(/^([A-Za-z]\w*)\[.*$/, '$1')
  const [first = ''] = outer.replace(/\[[^\]]*\]/g, '').split('|')
  return first
    .replace(/\.\.\./g, '')
    .replace(/[^\w.:-]+/g, ' ')
    .trim()
}

/** The usage line to go by: the first with positionals that is about the command itself. */
export function chooseReading(readings: readonly UsageReading[]): UsageReading | undefined {
  return readings.find((reading) => reading.literals.length === 0 && reading.positionals.length > 0)
}

/** The positionals of a command, described by the list of arguments where there is one. */
export function readPositionals(
  readings: readonly UsageReading[],
  rows: readonly ArgumentRow[],
  subcommands: readonly string[],
): readonly HelpPositional[] {
  // A line with nothing but a place for options is about --help and --version.
  const own = readings.filter(({ literals, positionals, options }) => {
    return literals.length === 0 && positionals.length + options.length > 0
  })
  const counts = own.map(({ positionals }) => positionals.filter((positional) => positional.required).length)
  const chosen = chooseReading(readings)?.positionals ?? listLiterals(readings)
  const fromUsage = chosen.map((positional, index) => ({
    ...positional,
    required: positional.required && counts.every((count) => count > index),
  }))
  const listed = rows.map(readRow).filter((row) => row.name !== '' && !isSubcommand(row, subcommands))
  const named = new Set(fromUsage.map((positional) => keyOf(positional.name)))
  // A list whose names are not those of the usage line is the better source: it is about each of them.
  if (listed.length >= fromUsage.length && !listed.some((row) => named.has(keyOf(row.name)))) return listed
  return fromUsage.map((positional) => describe(positional, listed))
}

/** `npm config set ...`, `npm config get ...`: one of these words, then whatever it takes. */
function listLiterals(readings: readonly UsageReading[]): readonly UsagePositional[] {
  const words = new Set(
    readings.flatMap(({ literals }) => literals.slice(0, 1)).filter((word) => /^[a-z][\w.-]*$/.test(word)),
  )
  if (words.size < 2) return []
  return [
    { name: 'command', required: true, repeat: false, choices: [...words] },
    { name: 'arguments', required: false, repeat: true, choices: [] },
  ]
}

function readRow(row: ArgumentRow): HelpPositional {
  const written = row.item.trim()
  const { choices } = readChoices(written)
  const facts = readValueFacts(row.lines)
  const name =
    choices.length > 0
      ? 'choice'
      : written
          .replace(/\.\.\./g, '')
          .replace(/[^\w.:-]+/g, ' ')
          .trim()
  return {
    name,
    required: !written.startsWith('[') && facts.default === undefined,
    repeat: written.includes('...'),
    choices: choices.length > 0 ? choices : facts.sureChoices ? facts.choices : [],
    description: row.text,
    default: facts.default,
    listed: true,
  }
}

function describe(positional: UsagePositional, rows: readonly HelpPositional[]): HelpPositional {
  const row = rows.find(
    (candidate) => keyOf(candidate.name) === keyOf(positional.name) || sameChoices(candidate, positional),
  )
  const { name, required, repeat, choices } = positional
  if (row === undefined) return { name, required, repeat, choices, description: '', listed: false }
  const known = choices.length > 0 ? choices : row.choices
  return { ...row, name, required, repeat: repeat || row.repeat, choices: known }
}

const sameChoices = (row: HelpPositional, { choices }: UsagePositional) =>
  choices.length > 0 && choices.join() === row.choices.join()

const isSubcommand = (row: HelpPositional, subcommands: readonly string[]) =>
  subcommands.includes(row.name) || row.choices.some((choice) => subcommands.includes(choice))

const keyOf = (name: string) => name.toLowerCase().replace(/[^a-z0-9]+/g, '')
