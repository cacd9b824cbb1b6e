import { type DraftArg, type DraftTool, type Note, remark, unsure } from './draft.ts'
import { takeName, toSnakeCase } from './draft-names.ts'
import { draftOption, isInformative, shapeChoices } from './draft-option.ts'
import { toDraftText } from './draft-text.ts'
import { guessType } from './guess-type.ts'
import type { HelpPositional, ParsedHelp } from './parsed-help.ts'

/** A command, and what its help says. */
export interface ToolSource {
  /** The name of the tool. */
  readonly name: string
  /** The words behind the program: `remote add`. */
  readonly command: string
  /** What a list of commands said about it. */
  readonly description: string
  readonly help: ParsedHelp
  readonly notes?: readonly Note[]
}

const manyOptions = 40

/** A command as a tool: its positionals first, then its options. */
export function draftTool({ name, command, description, help, notes = [] }: ToolSource): DraftTool {
  const own = help.options.filter((option) => !isInformative(option) && (command === '' || !option.shared))
  const taken = new Set<string>()
  const options = own.map(draftOption).map((arg) => ({ ...arg, name: takeName(arg.name, taken) }))
  const positionals = help.positionals.map((positional) => draftPositional(positional, taken))
  const said = toDraftText(description || help.summary)
  return {
    name,
    description: said || `Run ${[name.replaceAll('_', ' ')].join(' ')}.`,
    command,
    endOfOptions: help.endOfOptions && positionals.length > 0,
    args: [...positionals, ...options],
    notes: [...notes, ...(said === '' ? [unsure('no description found')] : []), ...remarksOn(help, own.length, command)],
  }
}

function draftPositional(positional: HelpPositional, taken: Set<string>): DraftArg {
  const wanted = toSnakeCase(positional.name) || 'argument'
  const letter = /^[0-9]/.test(wanted) ? `argument_${wanted}` : wanted
  const name = takeName(taken.has(letter) ? `${letter}_argument` : letter, taken)
  const { type, because } = guessType(positional.name, positional.default)
  const isGuess = because !== undefined && positional.choices.length === 0
  return {
    name,
    type,
    description: toDraftText(positional.description),
    ...(positional.required ? { required: true } : {}),
    ...(positional.repeat ? { repeat: true } : {}),
    ...shapeChoices(positional.choices),
    positional: true,
    notes: [
      ...(isGuess ? [unsure(because, 'type')] : []),
      ...(positional.listed ? [] : [unsure('read off the usage line', 'positional')]),
      ...(positional.listed && positional.description === '' ? [unsure('no description found')] : []),
    ],
  }
}

function remarksOn(help: ParsedHelp, options: number, command: string): readonly Note[] {
  const shared = help.options.filter((option) => option.shared && !isInformative(option)).map((option) => option.flags.at(-1))
  const others = help.forms.slice(1)
  const notes: Note[] = []
  if (help.positionals.length > 0 && !help.endOfOptions) {
    notes.push(unsure('positionals come before the flags; if the program knows `--`, add end_of_options: true to have them last'))
  }
  if (others.length > 0) notes.push(unsure(`the usage has other forms too: ${toDraftText(others.join(' | '), 200)}`))
  if (options > manyOptions) notes.push(unsure(`${options} options are a lot to read for a model; keep those it needs`))
  if (command !== '' && shared.length > 0) notes.push(remark(`left out, shared by all commands: ${toDraftText(shared.join(', '), 250)}`))
  if (help.subcommands.length > 0) {
    const names = help.subcommands.map((sub) => sub.name).join(', ')
    notes.push(unsure(`has commands of its own: ${toDraftText(names, 200)}`))
  }
  return notes
}
