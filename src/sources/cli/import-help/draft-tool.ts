import {
  type DraftArg,
  type DraftTool,
  joinWords,
  longestFlag,
  type Note,
  nameOption,
  remark,
  takeFreeName,
  toArgumentName,
  toDraftText,
  unsure,
} from './draft.ts'
import { findCautions, guessType, isListName, isSwitchName } from './guesses.ts'
import type { HelpOption, HelpPositional, HelpValue, ParsedHelp } from './parsed-help.ts'
import type { HelpSource } from './tool-source.ts'

const manyOptions = 40

/** A command as a tool: its positionals first, then its options. */
export function draftTool({ name, command, description, help, notes }: HelpSource): DraftTool {
  const isWhole = command.length === 0
  const own = help.options.filter((option) => !isInformative(option) && (isWhole || !option.shared))
  const taken = new Set<string>()
  const options = own.map(draftOption).map((arg) => ({ ...arg, name: takeFreeName(arg.name, taken) }))
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
  const name = takeFreeName(taken.has(letter) ? `${letter}_argument` : letter, taken)
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

/** An option as an argument of a tool. */
function draftOption(option: HelpOption): DraftArg {
  const { name, isLetter } = nameOption(option.flags)
  const description = describe(option)
  const base = { name, description, flag: longestFlag(option.flags), ...(option.required ? { required: true } : {}) }
  const notes = [
    ...(option.fromUsage ? [unsure('only the usage line names it')] : []),
    ...(description === '' && !option.fromUsage ? [unsure('no description found')] : []),
    ...(isLetter ? [unsure('has no long spelling to be named after')] : []),
    ...findCautions(option.flags, option.description),
  ]
  const drafted = shapeOption(option, { ...base, type: 'string', notes })
  return { ...drafted, notes: [...drafted.notes, ...notes] }
}

/** Options that print something and end are no arguments of a tool. */
function isInformative({ flags, description }: HelpOption): boolean {
  if (flags.some((flag) => /^--?(?:help|version|help-all|usage)$/.test(flag))) return true
  const lone = flags.length === 1 && /^-[hV?]$/.test(flags[0] ?? '')
  return lone && /\b(?:help|version|usage)\b/i.test(description)
}

/** The program's own default belongs in the text: as `default:` it would be passed on each call. */
function describe({ description, value, shownNegated, flags }: HelpOption): string {
  const literal = value?.literal ?? ''
  const shown = literal === '' || /^(?:\[.*\]|true|false)$/.test(literal) || /default/i.test(description)
  const said = /\p{L}/u.test(description) ? description : ''
  const text = toDraftText(shown ? said : `${said} (default: ${literal})`)
  return shownNegated && text !== '' ? toDraftText(`Turns off ${longestFlag(flags)}: ${text}`) : text
}

type Shape = Omit<DraftArg, 'notes'> & { readonly notes: readonly Note[] }

function shapeOption(option: HelpOption, base: Shape): DraftArg {
  const { value } = option
  const plain = { ...base, notes: [] }
  if (value === undefined && option.default === 'true')
    return shapeSwitch(plain, 'is on by default; off is taken to be =false')
  if (value?.literal === 'true') return shapeSwitch(plain)
  if (value === undefined || value.literal === 'false') return shapeFlag(option, plain)
  if (isSwitchName(value)) return shapeSwitch(plain, 'takes a boolean; true and false assumed')
  if (value.optional && value.inline && !plain.flag?.startsWith('--')) {
    return {
      ...plain,
      type: 'boolean',
      notes: [unsure(`also takes a value joined to it: ${plain.flag}${value.written}`)],
    }
  }
  return shapeValue(option, value, plain)
}

/** `--server-print=false`: a boolean that has to be said. */
function shapeSwitch(base: Shape, guess?: string): DraftArg {
  const notes = guess === undefined ? [] : [unsure(guess)]
  return { ...base, type: 'string', flag: `${base.flag}=`, enum: ['true', 'false'], notes }
}

function shapeFlag(option: HelpOption, base: Shape): DraftArg {
  const again = option.repeatable ? [remark('may be given several times; here it is given once')] : []
  const flag = base.flag ?? ''
  if (!option.negatable || !flag.startsWith('--')) return { ...base, type: 'boolean', notes: again }
  const opposite = `--no-${flag.slice(2)}`
  if (!option.shownNegated)
    return { ...base, type: 'boolean', notes: [...again, remark(`the program also takes ${opposite}`)] }
  return { ...base, name: toArgumentName(opposite), type: 'boolean', flag: opposite, notes: again }
}

function shapeValue(option: HelpOption, value: HelpValue, base: Shape): DraftArg {
  const { type, because } = guessType(value.name, value.literal || option.default, value.written)
  const notes: Note[] = []
  if (because !== undefined && value.choices.length === 0) notes.push(unsure(because, 'type'))
  if (value.optional) notes.push(remark('the program also takes it without a value'))
  if (value.choices.length > 0 && !value.sureChoices) notes.push(unsure('choices read out of the text', 'enum'))
  const flag = value.inline ? `${base.flag}=` : base.flag
  const shaped = { ...base, flag, type, notes, ...shapeChoices(value.choices) }
  if (value.words === 1) return option.repeatable || isListName(value.name) ? { ...shaped, repeat: true } : shaped
  if (value.words !== 'many') notes.push(unsure(`takes ${value.words} values: ${toDraftText(value.written, 60)}`))
  return { ...shaped, type: 'array', items: shaped.type === 'boolean' ? 'string' : shaped.type }
}

/** The choices as an enum: of numbers where all of them are. */
function shapeChoices(choices: readonly string[]): { type?: 'string' | 'integer'; enum?: (string | number)[] } {
  if (choices.length === 0) return {}
  const whole = choices.every((choice) => /^-?\d{1,15}$/.test(choice))
  if (!whole) return { type: 'string', enum: choices.map((choice) => toDraftText(choice)) }
  return { type: 'integer', enum: [...new Set(choices.map(Number))] }
}
