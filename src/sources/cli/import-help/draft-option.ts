import {
  type DraftArg,
  longestFlag,
  type Note,
  nameOption,
  remark,
  toArgumentName,
  toDraftText,
  unsure,
} from './draft.ts'
import { findCautions, guessType, isListName, isSwitchName } from './guesses.ts'
import type { HelpOption, HelpValue } from './parsed-help.ts'

/** An option as an argument of a tool. */
export function draftOption(option: HelpOption): DraftArg {
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
export function isInformative({ flags, description }: HelpOption): boolean {
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
export function shapeChoices(choices: readonly string[]): { type?: 'string' | 'integer'; enum?: (string | number)[] } {
  if (choices.length === 0) return {}
  const whole = choices.every((choice) => /^-?\d{1,15}$/.test(choice))
  if (!whole) return { type: 'string', enum: choices.map((choice) => toDraftText(choice)) }
  return { type: 'integer', enum: [...new Set(choices.map(Number))] }
}
