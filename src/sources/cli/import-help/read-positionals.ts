import type { HelpPositional } from './parsed-help.ts'
import type { ArgumentRow } from './read-entries.ts'
import type { UsagePositional, UsageReading } from './read-usage.ts'
import { readChoices } from './read-value.ts'
import { readValueFacts } from './read-value-facts.ts'

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
