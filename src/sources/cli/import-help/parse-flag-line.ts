import type { HelpValue } from './parsed-help.ts'
import { isOpenEnded, takeFlagValue } from './read-value.ts'

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

/**
 * Takes apart a line such as `-n, --lines=NUM   how many lines`; undefined where it does not start with an option.
 *
 *   -n, --lines=NUM     how many lines
 *   flags       value   text             two spaces, or a value that ends, part them
 */
export function parseFlagLine(line: string): FlagLine | undefined {
  // psql spells a digit out: `-1 ("one"), --single-transaction`.
  const trimmed = line.trim().replace(/^(-\S) \("\w*"\)/, '$1')
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
  const found = takeFlagValue(state.rest, flag, alone)
  if (found === undefined) return
  state.values.push(found.value)
  state.repeatable ||= isOpenEnded(state.rest.slice(0, found.length)) && found.value.words === 1
  state.rest = state.rest.slice(found.length)
}

function mergeValues(values: readonly HelpValue[]): HelpValue | undefined {
  const [first] = values
  const best = values.find((value) => value.name.length > 1 || value.choices.length > 0) ?? first
  return best === undefined
    ? undefined
    : { ...best, optional: values.some((v) => v.optional), inline: values.some((v) => v.inline) }
}

/** `--debug / --no-debug` is one option and its opposite. */
function withoutNegation(spec: FlagSpec): FlagSpec {
  const positive = spec.flags.filter((flag) => !isOpposite(flag, spec.flags))
  return { ...spec, flags: [...new Set(positive)], negatable: spec.negatable || positive.length < spec.flags.length }
}

const isOpposite = (flag: string, all: readonly string[]) =>
  flag.startsWith('--no-') && all.includes(`--${flag.slice(5)}`)

const stripLead = (text: string) =>
  text
    .trim()
    .replace(/^(?:[:–—-]\s+|:$)/, '')
    .trim()
