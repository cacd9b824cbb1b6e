import { type FlagSpec, parseFlagLine } from './parse-flag-line.ts'
import type { HelpOption, HelpValue } from './parsed-help.ts'
import { readValueFacts } from './read-value.ts'
import type { Section } from './split-help.ts'
import { type HelpEntry, readHelpEntries } from './split-help.ts'

const maxOptions = 1000

/** The options that a help text lists, one a row. */
export function readOptionRows(sections: readonly Section[]): readonly HelpOption[] {
  const found = sections
    .filter((section) => section.kind !== 'usage' && section.kind !== 'examples')
    .flatMap((section) =>
      readHelpEntries(joinFlags(section.lines.map(withoutBareLetters)), startOption).map((entry) => ({
        entry,
        shared: section.kind === 'shared',
      })),
    )
  // Unindented lines that start with a dash are samples wherever the real list is set in.
  const indented = found.filter(({ entry }) => entry.indent > 0)
  const rows = indented.length > 0 ? indented : found
  return mergeSame(rows.slice(0, maxOptions).map(({ entry, shared }) => toOption(entry, shared)))
}

const bareRow = /^ {1,4}[A-Za-z](?: <\w+>)? {3,}\S/
const bareFirst = /^(\s*)[A-Za-z],(?=\s+-)/
const bareLater = /^(\s*-\w(?:, -\w)*), [A-Za-z](?=,? )/

/** ps has letters without a dash beside its options, and in rows of their own, which end the row above. */
function withoutBareLetters(line: string): string {
  return bareRow.test(line) ? '' : line.replace(bareFirst, '$1').replace(bareLater, '$1')
}

/** grep writes two spellings on two lines: the first ends with a comma. */
function joinFlags(lines: readonly string[]): readonly string[] {
  const joined: string[] = []
  for (const line of lines) {
    const above = joined.at(-1) ?? ''
    if (/^\s*-\S.*,$/.test(above) && /^\s*-/.test(line) && above.length < 200)
      joined[joined.length - 1] = `${above} ${line.trim()}`
    else joined.push(line)
  }
  return joined
}

function startOption(line: string) {
  const parsed = parseFlagLine(line)
  if (parsed === undefined || /^-(?:NUM|N)$/.test(parsed.spec.flags.join())) return undefined
  return { item: parsed.spec, text: parsed.text }
}

function toOption({ item, text, lines }: HelpEntry<FlagSpec>, shared: boolean): HelpOption {
  const facts = readValueFacts(lines)
  return {
    flags: item.flags,
    value: withFacts(item.value, facts),
    description: text,
    default: item.value?.literal || facts.default,
    required: facts.required,
    repeatable: item.repeatable || facts.repeatable || item.value?.literal === '[]',
    negatable: item.negatable,
    shownNegated: false,
    shared,
    fromUsage: false,
  }
}

function withFacts(value: HelpValue | undefined, facts: ReturnType<typeof readValueFacts>): HelpValue | undefined {
  if (value === undefined || value.choices.length > 0 || facts.choices.length === 0) return value
  return { ...value, choices: facts.choices, sureChoices: facts.sureChoices }
}

/** Rows about the same flag become one: gcc lists `-save-temps` with and without a value. */
function mergeSame(rows: readonly HelpOption[]): readonly HelpOption[] {
  const merged: HelpOption[] = []
  const owner = new Map<string, number>()
  for (const row of rows) {
    const own = row.flags.filter((flag) => !owner.has(flag))
    if (own.length === 0) {
      const index = owner.get(row.flags[0] ?? '') ?? 0
      merged[index] = completed(merged[index] as HelpOption, row)
    } else {
      for (const flag of own) owner.set(flag, merged.length)
      merged.push({ ...row, flags: own })
    }
  }
  return merged
}

function completed(first: HelpOption, other: HelpOption): HelpOption {
  const joined = first.value === undefined && other.value !== undefined
  const value = joined && other.value !== undefined ? { ...other.value, optional: true, inline: true } : first.value
  return { ...first, value, description: first.description || other.description }
}

/** Adds information of the usage lines: values that the rows do not show, opposites, and options without a row. */
export function mergeOptions(rows: readonly HelpOption[], specs: readonly FlagSpec[]): readonly HelpOption[] {
  const known = new Map<string, FlagSpec>()
  for (const spec of specs)
    for (const flag of spec.flags) known.set(flag, known.get(flag)?.value ? withRepeat(known.get(flag), spec) : spec)
  const listed = new Set(rows.flatMap((row) => row.flags))
  const opposite = (flag: string) => `--no-${flag.slice(2)}`
  const full = rows.map((row) => {
    const found = row.flags.map((flag) => known.get(flag)).filter((spec) => spec !== undefined)
    const value = row.value ?? found.find((spec) => spec.value !== undefined)?.value
    const negated = row.flags.some(
      (flag) => flag.startsWith('--') && known.has(opposite(flag)) && !listed.has(opposite(flag)),
    )
    const shownNegated = negated && found.length === 0
    return {
      ...row,
      value,
      negatable: row.negatable || negated,
      shownNegated,
      repeatable: row.repeatable || found.some((spec) => spec.repeatable),
    }
  })
  const isNew = (spec: FlagSpec) =>
    !spec.flags.some((flag) => listed.has(flag) || listed.has(flag.replace(/^--no-/, '--')))
  const extra = new Map(
    specs.filter(isNew).map((spec) => [spec.flags.join(' '), known.get(spec.flags[0] ?? '') ?? spec]),
  )
  return [...full, ...[...extra.values()].map(fromUsage)].slice(0, maxOptions)
}

const withRepeat = (spec: FlagSpec | undefined, later: FlagSpec): FlagSpec => {
  const base = spec ?? later
  return { ...base, repeatable: base.repeatable || later.repeatable }
}

function fromUsage({ flags, value, negatable, repeatable }: FlagSpec): HelpOption {
  const none = { description: '', required: false, shownNegated: false, shared: false }
  return { ...none, flags, value, repeatable, negatable, fromUsage: true }
}
