import { joinWords, type Note, remark, unsure } from './draft.ts'
import { parseHelp } from './parse-help.ts'
import type { HelpSubcommand, ParsedHelp } from './parsed-help.ts'

/** A program, by its words and by the name its tools begin with. */
export interface NamedProgram {
  readonly program: readonly string[]
  readonly name: string
}

/** A command with its parsed help. */
export interface HelpSource {
  /** The command that names the tool: `git remote add`. */
  readonly name: string
  /** The words behind the program: `remote`, `add`. */
  readonly command: readonly string[]
  /** Its description in the list of commands. */
  readonly description: string
  readonly help: ParsedHelp
  readonly notes: readonly Note[]
}

/** A command whose help was read. */
export function toHelpSource(
  { name }: NamedProgram,
  command: readonly string[],
  help: ParsedHelp,
  description = '',
): HelpSource {
  return { name: [name, ...command].join(' '), command, description, help, notes: [] }
}

/** A command without readable help, described by its row in the list of commands. */
export function toBareHelpSource(named: NamedProgram, command: readonly string[], row: HelpSubcommand): HelpSource {
  const words = [...named.program, ...command]
  const help = parseHelp(`usage: ${words.join(' ')} ${row.usage}`, words)
  const notes = [unsure('its own help was not read; only the list of commands names it')]
  return { ...toHelpSource(named, command, { ...help, forms: [] }, row.description), notes }
}

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
