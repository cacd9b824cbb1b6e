import { type FlagSpec, parseFlagLine } from './parse-flag-line.ts'
import { bracketLength, readHelpValue } from './read-value.ts'

/** A part of a usage line: a word, or a group in brackets with its alternatives. */
export type UsageNode = UsageWord | UsageGroup

interface UsageWord {
  readonly kind: 'word'
  readonly text: string
  readonly repeat: boolean
}

interface UsageGroup {
  readonly kind: 'group'
  readonly optional: boolean
  readonly alternatives: readonly (readonly UsageNode[])[]
  readonly repeat: boolean
}

const maxDepth = 20

/** Takes a usage line apart: `[-q | --quiet] <file>...` is a group of two alternatives and a word that repeats. */
export function readUsageNodes(text: string, depth = 0): readonly (readonly UsageNode[])[] {
  const alternatives: UsageNode[][] = [[]]
  let index = 0
  while (index < text.length) {
    const nodes = alternatives.at(-1) as UsageNode[]
    const char = text.charAt(index)
    if (/\s/.test(char)) index++
    else if (char === '|') {
      alternatives.push([])
      index++
    } else if (text.startsWith('...', index) || char === '…') {
      repeatLast(nodes)
      index += char === '…' ? 1 : 3
    } else {
      const length = (char === '[' || char === '(') && depth < maxDepth ? groupLength(text, index) : 0
      if (length > 0) nodes.push(readGroup(text.slice(index, index + length), depth))
      const word = length > 0 ? '' : readWord(text, index)
      if (length === 0) nodes.push({ kind: 'word', text: word, repeat: false })
      index += length || word.length
    }
  }
  return alternatives
}

/** A group that runs on into a word is a part of it: `[user@]host`. */
function groupLength(text: string, start: number): number {
  const length = bracketLength(text, start)
  return /^[^\s|.…[\]()]/.test(text.slice(start + length, start + length + 1)) ? 0 : length
}

function readGroup(text: string, depth: number): UsageGroup {
  const alternatives = readUsageNodes(text.slice(1, -1), depth + 1)
  return { kind: 'group', optional: text.startsWith('['), alternatives, repeat: false }
}

/** A word runs to a space, a bar or an ellipsis; brackets inside it belong to it: `MAJOR[.MINOR]`, `<file name>`. */
function readWord(text: string, start: number): string {
  let index = start
  while (index < text.length && !/[\s|]/.test(text.charAt(index)) && !text.startsWith('...', index)) {
    index += bracketLength(text, index) || 1
  }
  return text.slice(start, Math.max(index, start + 1))
}

function repeatLast(nodes: UsageNode[]): void {
  const last = nodes.pop()
  if (last !== undefined) nodes.push({ ...last, repeat: true })
}

/** An option as a usage line has it. */
interface UsageOption {
  readonly specs: readonly FlagSpec[]
  /** How many parts of the line it took beyond its own: its value. */
  readonly taken: number
}

/** Where an option stands in a usage line. */
interface OptionPlace {
  /** Outside all brackets, where the next word need not belong to it. */
  readonly top: boolean
  /** Whether an option is known to take a value. */
  readonly takesValue: (flag: string) => boolean | undefined
}

/** Reads the option at `index` and the value behind it. */
export function readUsageOption(nodes: readonly UsageNode[], index: number, place: OptionPlace): UsageOption {
  const node = nodes[index]
  const spec = node?.kind === 'word' ? parseFlagLine(node.text)?.spec : undefined
  if (node?.kind !== 'word' || spec === undefined) return { specs: [], taken: 0 }
  const bundle = readBundle(node.text, place)
  if (bundle.length > 0) {
    return { specs: bundle.map((flag) => ({ flags: [flag], negatable: false, repeatable: false })), taken: 0 }
  }
  const mayTake = !place.top || spec.flags.every((flag) => place.takesValue(flag) !== false)
  const value = spec.value === undefined && mayTake ? readBehind(nodes[index + 1], place.top) : undefined
  const again = nodes.slice(index + 1).some((later) => repeatsFlag(later, spec))
  const full = { ...spec, value: spec.value ?? value, repeatable: spec.repeatable || node.repeat || again }
  return { specs: [full], taken: value === undefined ? 0 : 1 }
}

/** Whether a word stands for the options in general: `[OPTIONS]`, `<log-options>`, `global flags`. */
export const isPlaceholder = (word: string): boolean =>
  /^[^\w-]*(?:[\w-]+[ -])?(?:options?|flags?|opts)\W*$/i.test(word)

/** Whether what stands first is an option. */
export function startsWithOption(nodes: readonly UsageNode[]): boolean {
  const [first] = nodes
  if (first === undefined) return false
  return first.kind === 'word' ? /^[[(]*--?[^-]/.test(first.text) : startsWithOption(first.alternatives[0] ?? [])
}

/** `-q | --quiet` names one option twice; `-w | --workspace <name>` too. */
export function joinAlias(alternatives: readonly (readonly UsageNode[])[]): readonly UsageNode[] | undefined {
  const [[short, ...more] = [], [long, ...behind] = []] = alternatives
  if (alternatives.length !== 2 || more.length > 0 || short?.kind !== 'word' || long?.kind !== 'word') return undefined
  if (!/^-[^-]$/.test(short.text) || !long.text.startsWith('--')) return undefined
  return [{ ...long, text: `${short.text}, ${long.text}` }, ...behind]
}

/** `[--omit <x> [--omit <x> ...]]`: the same option again, any number of times. */
function repeatsFlag(node: UsageNode, spec: FlagSpec): boolean {
  if (node.kind !== 'group') return false
  const inner = node.alternatives.flat()
  return (
    inner.some((part) => part.kind === 'word' && spec.flags.includes(part.text)) && inner.some((part) => part.repeat)
  )
}

function readBehind(next: UsageNode | undefined, top: boolean) {
  if (next === undefined) return undefined
  if (next.kind === 'word') {
    return /^[-+]/.test(next.text) || (top && isPlaceholder(next.text)) ? undefined : readHelpValue(next.text)
  }
  const words = next.alternatives.map((nodes) => (nodes[0]?.kind === 'word' ? nodes[0].text : ''))
  if (words.some((word) => word === '' || word.startsWith('-')) || (top && next.optional)) return undefined
  return readHelpValue(next.optional ? `[${words.join('|')}]` : `(${words.join('|')})`)
}

/** `-46AaCf` is seven options where the letters differ and no word is likely: mixed case, digits, or in order. */
function readBundle(text: string, { takesValue }: OptionPlace): readonly string[] {
  const letters = /^-([A-Za-z0-9]{2,})$/.exec(text)?.[1] ?? ''
  const unique = new Set(letters).size === letters.length
  const mixed = /[A-Z0-9]/.test(letters) && !/^[A-Z][a-z]+$/.test(letters)
  const sorted = [...letters].sort((a, b) => a.toLowerCase().localeCompare(b.toLowerCase())).join('') === letters
  if (letters === '' || !unique || (!mixed && !sorted) || takesValue(text) !== undefined) return []
  return [...letters].map((letter) => `-${letter}`)
}
