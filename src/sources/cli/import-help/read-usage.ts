import type { FlagSpec } from './parse-flag-line.ts'
import {
  isPlaceholder,
  joinAlias,
  readUsageNodes,
  readUsageOption,
  startsWithOption,
  type UsageNode,
} from './read-usage-nodes.ts'
import { readChoices } from './read-value.ts'

/** A word of the usage line that stands for a value without a flag. */
export interface UsagePositional {
  readonly name: string
  readonly required: boolean
  repeat: boolean
  readonly choices: readonly string[]
}

/** The parsed content of one usage line. */
export interface UsageReading {
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
