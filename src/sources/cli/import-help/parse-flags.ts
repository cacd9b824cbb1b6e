import type { HelpValue } from './parsed-help.ts'
import { isOpenEnded, readValue } from './read-value.ts'
import { bracketLength, takeWord } from './take-balanced.ts'

/** The left-hand side of an option's line. */
export interface FlagSpec {
  readonly flags: readonly string[]
  readonly value?: HelpValue | undefined
  readonly negatable: boolean
  /** `-v...`, `<FILE>...`: may be given again and again. */
  readonly repeatable: boolean
}

/** An option's line, taken apart. */
export interface FlagLine {
  readonly spec: FlagSpec
  readonly text: string
}

const maxSpecChars = 300
const longFlag = /^--(?:\[no-?\]|\(no-\))?[A-Za-z0-9](?:[\w-]|\.(?=\w))*/
const shortFlag = /^-(?:[A-Za-z](?:[\w-]|\.(?=\w))*|[0-9?#@:!%&])/
const separator = /^(?:\s?[,|]\s*| ?\/ ?| or )(?=-)|^ (?=--[a-z])/
const metavar = /^(?:N|[A-Z][A-Z0-9_.:|/=,-]+)(?:\.\.\.)?$/

/**
 * Takes apart a line such as `-n, --lines=NUM   how many lines`; undefined where it does not start with an option.
 *
 *   -n, --lines=NUM     how many lines
 *   flags       value   text             two spaces, or a value that ends, part them
 */
export function parseFlagLine(line: string): FlagLine | undefined {
  const trimmed = line.trim()
  if (!/^-[^\s]/.test(trimmed) || /^--(?:\s|$)|^---/.test(trimmed)) return undefined
  const gap = /[^\s,](?=\s{2,}\S)/.exec(trimmed)
  const head = (gap === null ? trimmed : trimmed.slice(0, gap.index + 1)).slice(0, maxSpecChars)
  const text = trimmed.slice(head.length)
  const { spec, rest } = readSpec(head, gap !== null)
  // A row of options and nothing else is a synopsis.
  if (spec === undefined || (gap === null && /^\s*-\w/.test(rest))) return undefined
  return { spec, text: stripLead(`${rest}${text}`) }
}

interface Reading {
  readonly flags: string[]
  readonly values: HelpValue[]
  rest: string
  negatable: boolean
  repeatable: boolean
}

function readSpec(head: string, alone: boolean): { spec: FlagSpec | undefined; rest: string } {
  const state: Reading = { flags: [], values: [], rest: head, negatable: false, repeatable: false }
  while (readFlag(state)) {
    readFlagValue(state, alone)
    const next = separator.exec(state.rest)
    if (next === null) break
    state.rest = state.rest.slice(next[0].length)
  }
  const { flags, values, negatable, repeatable, rest } = state
  if (flags.length === 0) return { spec: undefined, rest }
  return { spec: withoutNegation({ flags, value: mergeValues(values), negatable, repeatable }), rest }
}

function readFlag(state: Reading): boolean {
  const written = (longFlag.exec(state.rest) ?? shortFlag.exec(state.rest))?.[0]
  if (written === undefined) return false
  state.rest = state.rest.slice(written.length)
  const flag = written.replace(/[[(]no-?[\])]/, '').replace(/[-_]+$/, '')
  state.negatable ||= /[[(]no/.test(written)
  state.flags.push(flag)
  if (/^\.\.\./.test(state.rest)) {
    state.repeatable = true
    state.rest = state.rest.slice(3)
  }
  return true
}

function readFlagValue(state: Reading, alone: boolean): void {
  const flag = state.flags.at(-1) ?? ''
  const found = takeLiteral(state.rest) ?? takeJoined(state.rest, flag) ?? takeSpaced(state.rest, alone)
  if (found === undefined) return
  state.values.push(found.value)
  state.repeatable ||= isOpenEnded(state.rest.slice(0, found.length)) && found.value.words === 1
  state.rest = state.rest.slice(found.length)
}

interface Found {
  readonly value: HelpValue
  readonly length: number
}

/** `--chunk-size=500:` and `--filename=[]:` show a default, and end the line. */
function takeLiteral(rest: string): Found | undefined {
  const literal = /^=('[^']*'|\[[^\]]*\]|[^\s:]*):$/.exec(rest)?.[1]
  if (literal === undefined) return undefined
  return { value: { ...readValue(''), inline: false, literal: literal.replace(/^'|'$/g, '') }, length: rest.length }
}

/** `=VALUE`, `[=VALUE]`, `<mode>` or `[N]` right behind the flag. */
function takeJoined(rest: string, flag: string): Found | undefined {
  if (rest.startsWith('=')) return takeAssigned(rest, flag)
  const length = /^[[<]/.test(rest) ? bracketLength(rest) : 0
  if (length === 0) return undefined
  const inner = rest.slice(1, length - 1)
  if (rest.startsWith('<')) return { value: readValue(rest.slice(0, length)), length }
  const value = readValue(inner.replace(/^=/, ''), { optional: true, inline: true })
  return { value: value.words === 'many' ? { ...value, words: 1 } : value, length }
}

/** `=VALUE`; `-out=path` with its single dash has to be written that way, and `-lock=false` shows one of two values. */
function takeAssigned(rest: string, flag: string): Found {
  const word = takeWord(rest.slice(1)).replace(/[,|]+$/, '')
  const inline = /^-[^-]./.test(flag)
  const isSwitch = /^(?:true|false)$/.test(word)
  const value = readValue(isSwitch ? '{true,false}' : word)
  const literal = /^-?\d/.test(word) ? word : undefined
  return { value: { ...value, optional: false, inline: inline || isSwitch, literal }, length: word.length + 1 }
}

/** A value after a space: bracketed or in capitals anywhere, any few words where the text is set apart. */
function takeSpaced(rest: string, alone: boolean): Found | undefined {
  if (!rest.startsWith(' ')) return undefined
  const list = /^(?: [A-Z][\w-]*)? \[[\w-]+ \.\.\.\]/.exec(rest)
  if (list !== null) return { value: readValue(list[0]), length: list[0].length }
  const behind = rest.slice(1)
  const until = behind.search(/,? -|\s?\|\s?-| \/ | or -/)
  const whole = until < 0 ? behind : behind.slice(0, until)
  if (mayBeValue(whole, alone)) return { ...withTrailingOption(whole), length: whole.length + 1 }
  const words = takeBracketed(behind)
  if (words !== '') return { value: readValue(words), length: words.length + 1 }
  return undefined
}

/** Whether a whole run of words is a value name; without a gap behind it only a single word is believed. */
function mayBeValue(text: string, alone: boolean): boolean {
  if (text === '' || !/^[\w<[({'"]/.test(text) || text.length > 120) return false
  const words = text.replace(/<[^<>]*>/g, 'x').split(' ').length
  return words <= (alone ? 3 : 1) && !/[;!?]|[,:]$/.test(text)
}

/** helm writes `string[="unchanged"]` where the value may be left out. */
function withTrailingOption(text: string): { value: HelpValue } {
  const optional = /^([\w-]+)\[=.*\]$/.exec(text)
  return { value: optional === null ? readValue(text) : readValue(optional[1] as string, { optional: true, inline: true }) }
}

function takeBracketed(text: string): string {
  let taken = ''
  for (;;) {
    const rest = text.slice(taken.length)
    const word = takeWord(rest.trimStart())
    const isValue = /^[[<{(]/.test(word) ? bracketLength(word) > 0 && isTight(word) : metavar.test(word) && taken === ''
    if (word === '' || !isValue || (taken !== '' && !rest.startsWith(' '))) return taken
    taken = text.slice(0, taken.length + rest.indexOf(word) + word.length)
  }
}

/** `(default)` and `[deprecated]` open a description; `(a|b)`, `<x>`, `[TYPE]` and `[user@]host` are values. */
const isTight = (word: string) =>
  /^[<{]/.test(word) || word.includes('|') || /^\[<|^\[[A-Z]/.test(word) || (bracketLength(word) < word.length && /[\w\]]$/.test(word))

function mergeValues(values: readonly HelpValue[]): HelpValue | undefined {
  const [first] = values
  const best = values.find((value) => value.name.length > 1 || value.choices.length > 0) ?? first
  return best === undefined ? undefined : { ...best, optional: values.some((v) => v.optional), inline: values.some((v) => v.inline) }
}

/** `--debug / --no-debug` is one option and its opposite. */
function withoutNegation(spec: FlagSpec): FlagSpec {
  const positive = spec.flags.filter((flag) => !isOpposite(flag, spec.flags))
  return { ...spec, flags: [...new Set(positive)], negatable: spec.negatable || positive.length < spec.flags.length }
}

const isOpposite = (flag: string, all: readonly string[]) => flag.startsWith('--no-') && all.includes(`--${flag.slice(5)}`)

const stripLead = (text: string) => text.trim().replace(/^(?:[:–—-]\s+|:$)/, '').trim()
