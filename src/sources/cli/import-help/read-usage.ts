import { type FlagSpec, parseFlagLine } from './parse-flags.ts'
import { readChoices, readValue } from './read-value.ts'
import { readUsageNodes, type UsageNode } from './usage-nodes.ts'

/** A word of the usage line that stands for a value without a flag. */
export interface UsagePositional {
  readonly name: string
  readonly required: boolean
  repeat: boolean
  readonly choices: readonly string[]
}

/** What one usage line says. */
export interface UsageReading {
  readonly positionals: UsagePositional[]
  readonly options: FlagSpec[]
  /** Words to be typed as they stand: the line is about a command below this one. */
  readonly literals: string[]
  /** A place for one of the subcommands. */
  hasCommand: boolean
  /** `--` stands before the first positional. */
  endOfOptions: boolean
}

/** What is known before a usage line is read. */
export interface UsageContext {
  /** The words of the command itself, to be passed over. */
  readonly words: readonly string[]
  readonly subcommands: readonly string[]
  /** Names stand in brackets or capitals, so a bare word is meant literally. */
  readonly marked: boolean
  /** Whether an option is known to take a value. */
  readonly takesValue: (flag: string) => boolean | undefined
}

interface Walk {
  readonly context: UsageContext
  readonly reading: UsageReading
}

/** Reads one usage line. */
export function readUsage(form: string, context: UsageContext): UsageReading {
  const reading: UsageReading = { positionals: [], options: [], literals: [], hasCommand: false, endOfOptions: false }
  const [first = [], ...others] = readUsageNodes(form)
  const nodes = [...first, ...others.flat()]
  const start = nodes[0]?.kind === 'word' && !nodes[0].text.startsWith('-') ? 1 : 0
  const skipped = new Set(context.words)
  const own = nodes.slice(start).filter((node) => node.kind === 'group' || !skipped.has(node.text))
  walkNodes({ context, reading }, own, { required: true, top: true })
  return reading
}

interface Place {
  readonly required: boolean
  readonly top: boolean
  /** Behind an option, in its brackets: plain words are its values. */
  readonly behindOption?: boolean
}

function walkNodes(walk: Walk, nodes: readonly UsageNode[], outer: Place): void {
  const place = { ...outer, behindOption: outer.behindOption === true || (!outer.top && startsWithOption(nodes)) }
  for (let index = 0; index < nodes.length; index++) {
    const node = nodes[index] as UsageNode
    if (node.kind === 'group') walkGroup(walk, node, { ...place, required: place.required && !node.optional, top: false })
    else if (node.text === '--') walk.reading.endOfOptions ||= walk.reading.positionals.length === 0
    else if (node.text.startsWith('-')) index += readOption(walk, nodes, index, place)
    else if (!place.behindOption) readPlain(walk, node, place)
  }
}

function walkGroup(walk: Walk, group: Extract<UsageNode, { kind: 'group' }>, place: Place): void {
  const { reading } = walk
  const counts = [reading.positionals.length, reading.options.length] as const
  if (isPlaceholder(plainText(group))) return repeatPlaceholder(reading, group.repeat)
  const words = group.alternatives.map((nodes) => (nodes.length === 1 && nodes[0]?.kind === 'word' ? nodes[0].text : ''))
  const alias = joinAlias(group.alternatives)
  if (alias !== undefined) walkNodes(walk, alias, place)
  else if (words.length > 2 && !place.behindOption && words.every((word) => /^[a-z][a-z-]*$/.test(word))) {
    reading.positionals.push({ name: 'command', required: place.required, repeat: false, choices: [...new Set(words)] })
  } else {
    const [first, ...others] = group.alternatives
    walkNodes(walk, first ?? [], place)
    for (const nodes of others) if (startsWithOption(nodes)) walkNodes(walk, nodes, { ...place, required: false })
  }
  if (!group.repeat) return
  for (const positional of reading.positionals.slice(counts[0])) positional.repeat = true
  for (const [index, option] of reading.options.entries()) {
    if (index >= counts[1]) reading.options[index] = { ...option, repeatable: true }
  }
}

/** The words of a group without alternatives: `global options`. */
const plainText = ({ alternatives }: Extract<UsageNode, { kind: 'group' }>) =>
  alternatives.length === 1 ? (alternatives[0] ?? []).map((node) => (node.kind === 'word' ? node.text : '[')).join(' ') : '['

/** `<file> [options] ...` repeats the file. */
function repeatPlaceholder({ positionals }: UsageReading, repeat: boolean): void {
  const last = positionals.at(-1)
  if (repeat && last !== undefined) last.repeat = true
}

/** `-q | --quiet` names one option twice; `-w | --workspace <name>` too. */
function joinAlias(alternatives: readonly (readonly UsageNode[])[]): readonly UsageNode[] | undefined {
  const [[short, ...more] = [], [long, ...behind] = []] = alternatives
  if (alternatives.length !== 2 || more.length > 0 || short?.kind !== 'word' || long?.kind !== 'word') return undefined
  if (!/^-[^-]$/.test(short.text) || !long.text.startsWith('--')) return undefined
  return [{ ...long, text: `${short.text}, ${long.text}` }, ...behind]
}

function startsWithOption(nodes: readonly UsageNode[]): boolean {
  const [first] = nodes
  if (first === undefined) return false
  return first.kind === 'word' ? /^[[(]*--?[^-]/.test(first.text) : startsWithOption(first.alternatives[0] ?? [])
}

/** Reads an option and the value behind it; says how many nodes that took beyond its own. */
function readOption({ context, reading }: Walk, nodes: readonly UsageNode[], index: number, place: Place): number {
  const node = nodes[index]
  if (node?.kind !== 'word') return 0
  const spec = parseFlagLine(node.text)?.spec
  if (spec === undefined) return 0
  const bundle = readBundle(node.text, context)
  if (bundle.length > 0) {
    for (const flag of bundle) reading.options.push({ flags: [flag], negatable: false, repeatable: false })
    return 0
  }
  const next = nodes[index + 1]
  const value = spec.value === undefined && mayTakeValue(spec, context, place) ? readOptionValue(next, place) : undefined
  const again = nodes.slice(index + 1).some((later) => repeatsFlag(later, spec))
  reading.options.push({ ...spec, value: spec.value ?? value, repeatable: spec.repeatable || node.repeat || again })
  return value === undefined ? 0 : 1
}

const mayTakeValue = (spec: FlagSpec, context: UsageContext, place: Place) =>
  !place.top || spec.flags.every((flag) => context.takesValue(flag) !== false)

/** `[--omit <x> [--omit <x> ...]]`: the same option again, any number of times. */
function repeatsFlag(node: UsageNode, spec: FlagSpec): boolean {
  if (node.kind !== 'group') return false
  const inner = node.alternatives.flat()
  return inner.some((part) => part.kind === 'word' && spec.flags.includes(part.text)) && inner.some((part) => part.repeat)
}

function readOptionValue(next: UsageNode | undefined, place: Place) {
  if (next === undefined) return undefined
  if (next.kind === 'word') return /^[-+]/.test(next.text) || (place.top && isPlaceholder(next.text)) ? undefined : readValue(next.text)
  const words = next.alternatives.map((nodes) => (nodes[0]?.kind === 'word' ? nodes[0].text : ''))
  if (words.some((word) => word === '' || word.startsWith('-')) || (place.top && next.optional)) return undefined
  return readValue(next.optional ? `[${words.join('|')}]` : `(${words.join('|')})`)
}

/** `-46AaCf` is seven options where the letters differ and no word is likely: mixed case, digits, or in order. */
function readBundle(text: string, { takesValue }: UsageContext): readonly string[] {
  const letters = /^-([A-Za-z0-9]{2,})$/.exec(text)?.[1] ?? ''
  const unique = new Set(letters).size === letters.length
  const mixed = /[A-Z0-9]/.test(letters) && !/^[A-Z][a-z]+$/.test(letters)
  const sorted = [...letters].sort((a, b) => a.toLowerCase().localeCompare(b.toLowerCase())).join('') === letters
  if (letters === '' || !unique || (!mixed && !sorted) || takesValue(text) !== undefined) return []
  return [...letters].map((letter) => `-${letter}`)
}

const isPlaceholder = (word: string) => /^[^\w-]*(?:[\w-]+[ -])?(?:options?|flags?|opts)\W*$/i.test(word)

function readPlain({ context, reading }: Walk, node: Extract<UsageNode, { kind: 'word' }>, place: Place): void {
  const { text } = node
  const { choices } = readChoices(text)
  const name = nameOf(text)
  if (isPlaceholder(text) || /^[+]/.test(text) || !/[A-Za-z]/.test(name) || reading.hasCommand) return
  if (isCommand(name, choices, context)) reading.hasCommand = true
  else if (place.top && context.marked && /^[a-z][\w.-]*$/.test(text)) reading.literals.push(text)
  else addPositional(reading, { name, required: place.required, repeat: node.repeat || text.includes('...'), choices })
}

const isCommand = (name: string, choices: readonly string[], { subcommands }: UsageContext) =>
  subcommands.length > 0 && (/^(?:sub-?)?commands?$/i.test(name) || choices.some((choice) => subcommands.includes(choice)))

/** `N [N ...]` is one argument with many values. */
function addPositional({ positionals }: UsageReading, next: UsagePositional): void {
  const last = positionals.at(-1)
  if (last?.name === next.name && (next.repeat || !next.required)) last.repeat = true
  else positionals.push({ ...next, repeat: next.repeat || /^arg(?:s|uments)$/i.test(next.name) })
}

function nameOf(text: string): string {
  const outer = text.replace(/^([A-Za-z]\w*)\[.*$/, '$1')
  const [first = ''] = outer.replace(/\[[^\]]*\]/g, '').split('|')
  return first.replace(/\.\.\./g, '').replace(/[^\w.:-]+/g, ' ').trim()
}
