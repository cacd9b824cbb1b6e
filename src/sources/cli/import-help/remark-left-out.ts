import { type Note, remark } from './draft.ts'
import { joinWords } from './draft-names.ts'
import type { HelpSubcommand, ParsedHelp } from './parsed-help.ts'

/** A note about commands beyond the limit. */
export function warnLeftOut(rows: readonly HelpSubcommand[], max: number): readonly Note[] {
  if (rows.length === 0) return []
  return [remark(`left out, more than ${max} commands (raise --max, or name them): ${namesOf(rows)}`)]
}

/** A note on importing the subcommands of a command that requires one. */
export function warnGroup(program: readonly string[], command: readonly string[], help: ParsedHelp): Note {
  const path = joinWords(command)
  const words = command.length > 1 ? `"${path}"` : path
  return remark(`left out, a group (${namesOf(help.subcommands)}): tooldex import help ${joinWords(program)} ${words}`)
}

/** A note about the options of the program itself. */
export function warnOwnOptions({ options }: ParsedHelp): readonly Note[] {
  const flags = options.map((option) => option.flags.at(-1) ?? '').filter((flag) => !/^--?(?:help|version)$/.test(flag))
  return flags.length === 0 ? [] : [remark(`left out, options of the program itself: ${flags.join(', ')}`)]
}

const namesOf = (rows: readonly HelpSubcommand[]) => rows.map((row) => row.name).join(', ')
