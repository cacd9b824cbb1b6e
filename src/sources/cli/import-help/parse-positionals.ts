import type { ArgumentRow } from './parse-lists.ts'
import type { HelpPositional } from './parsed-help.ts'
import { readHints } from './read-hints.ts'
import type { UsagePositional, UsageReading } from './read-usage.ts'
import { readChoices } from './read-value.ts'

/** The positionals of one usage line, described by the list of arguments where there is one. */
export function readPositionals(
  chosen: UsageReading | undefined,
  readings: readonly UsageReading[],
  rows: readonly ArgumentRow[],
  subcommands: readonly string[],
): readonly HelpPositional[] {
  const counts = readings.map(({ positionals }) => positionals.filter((positional) => positional.required).length)
  const fromUsage = (chosen?.positionals ?? []).map((positional, index) => ({
    ...positional,
    required: positional.required && counts.every((count) => count > index),
  }))
  const listed = rows.map(readRow).filter((row) => row.name !== '' && !isSubcommand(row, subcommands))
  const named = new Set(fromUsage.map((positional) => keyOf(positional.name)))
  // A list whose names are not those of the usage line is the better source: it is about each of them.
  if (listed.length >= fromUsage.length && !listed.some((row) => named.has(keyOf(row.name)))) return listed
  return fromUsage.map((positional) => describe(positional, listed))
}

function readRow(row: ArgumentRow): HelpPositional {
  const written = row.item.trim()
  const { choices } = readChoices(written)
  const hints = readHints(row.lines)
  const name = choices.length > 0 ? 'choice' : written.replace(/\.\.\./g, '').replace(/[^\w.:-]+/g, ' ').trim()
  return {
    name,
    required: !written.startsWith('[') && hints.default === undefined,
    repeat: written.includes('...'),
    choices: choices.length > 0 ? choices : hints.sureChoices ? hints.choices : [],
    description: row.text,
    default: hints.default,
    listed: true,
  }
}

function describe(positional: UsagePositional, rows: readonly HelpPositional[]): HelpPositional {
  const row = rows.find((candidate) => keyOf(candidate.name) === keyOf(positional.name) || sameChoices(candidate, positional))
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
