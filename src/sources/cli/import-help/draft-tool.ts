import {
  type DraftArg,
  type DraftTool,
  joinWords,
  type Note,
  remark,
  takeName,
  toArgumentName,
  toDraftText,
  unsure,
} from './draft.ts'
import { draftOption, isInformative, shapeChoices } from './draft-option.ts'
import { guessType } from './guesses.ts'
import type { HelpPositional, ParsedHelp } from './parsed-help.ts'
import type { HelpSource } from './tool-source.ts'

const manyOptions = 40

/** A command as a tool: its positionals first, then its options. */
export function draftTool({ name, command, description, help, notes }: HelpSource): DraftTool {
  const isWhole = command.length === 0
  const own = help.options.filter((option) => !isInformative(option) && (isWhole || !option.shared))
  const taken = new Set<string>()
  const options = own.map(draftOption).map((arg) => ({ ...arg, name: takeName(arg.name, taken) }))
  const positionals = help.positionals.map((positional) => draftPositional(positional, taken))
  const said = toDraftText(description || help.summary)
  return {
    name: toArgumentName(name) || 'tool',
    description: said || toDraftText(`Run ${name}.`),
    command: joinWords(command),
    endOfOptions: positionals.length > 0 && (help.dashes === 'first' || runsAnother(help)),
    args: [...positionals, ...options],
    notes: [
      ...notes,
      ...(said === '' ? [unsure('no description found')] : []),
      ...remarksOn(help, own.length, isWhole),
    ],
  }
}

function draftPositional(positional: HelpPositional, taken: Set<string>): DraftArg {
  const wanted = toArgumentName(positional.name) || 'argument'
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

/** `docker run IMAGE COMMAND ARG...`: flags behind those words would be the other program's. */
function runsAnother({ positionals, dashes }: ParsedHelp): boolean {
  const isOther = ({ name, choices }: HelpPositional) =>
    /^(?:command|cmd|program|utility)$/i.test(name) && choices.length === 0
  const command = positionals.findIndex(isOther)
  return command >= 0 && dashes === undefined && positionals.slice(command).some(({ repeat }) => repeat)
}

function remarksOn(help: ParsedHelp, options: number, isWhole: boolean): readonly Note[] {
  const shared = help.options
    .filter((option) => option.shared && !isInformative(option))
    .map((option) => option.flags.at(-1))
  const others = help.forms.slice(1)
  const notes: Note[] = []
  if (help.dashes === 'later')
    notes.push(unsure('the usage wants `--` between its positionals, which a tool cannot write'))
  else if (runsAnother(help)) {
    notes.push(unsure('its flags must come before the command it runs; that the program knows `--` is assumed'))
  } else if (help.positionals.length > 0 && help.dashes === undefined) {
    notes.push(unsure('positionals come before the flags; if the program knows `--`, add end_of_options: true'))
  }
  if (others.length > 0) notes.push(unsure(`the usage has other forms too: ${toDraftText(others.join(' | '), 200)}`))
  if (options > manyOptions) notes.push(unsure(`${options} options are a lot to read for a model; keep those it needs`))
  if (!isWhole && shared.length > 0)
    notes.push(remark(`left out, shared by all commands: ${toDraftText(shared.join(', '), 250)}`))
  if (help.subcommands.length > 0) {
    const names = help.subcommands.map((sub) => sub.name).join(', ')
    notes.push(unsure(`has commands of its own: ${toDraftText(names, 200)}`))
  }
  return notes
}
