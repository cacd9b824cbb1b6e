import type { FlagSpec } from './parse-flag-line.ts'
import type { HelpOption } from './parsed-help.ts'

const maxOptions = 1000

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
