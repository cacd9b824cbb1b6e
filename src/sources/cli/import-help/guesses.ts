import { type DraftTool, type Note, remark } from './draft.ts'
import type { HelpValue } from './parsed-help.ts'

/** The type of a value and, where it is a guess, what the guess rests on. */
export interface TypeGuess {
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'path'
  readonly because?: string | undefined
}

const names = (list: string) => new Set(list.split(' '))
const integers = names('int integer uint int8 int16 int32 int64 uint8 uint16 uint32 uint64 ints intslice')
const numbers = names('float float32 float64 double decimal real')
const paths = names(
  'file path dir directory filename pathname filepath folder files paths infile outfile file_name statefile',
)
const likelyIntegers = names(
  'n num number nr count lines port depth width height days jobs pid limit cols columns rows digits bits retries times nat blocks attempts threads workers milliseconds ms',
)
const likelyNumbers = names('seconds secs sec fractional_seconds percent percentage ratio')
const likelyFiles = /(?:^|_)(?:file|path|dir|directory)$/
/** Names that say that any text will do, so that a number among the defaults proves nothing. */
const texts = names('string str text strings stringarray stringslice list map duration size version date time')

/** The most likely type of a value, by its name and default. */
export function guessType(name: string, fallback: string | undefined, written = ''): TypeGuess {
  const key = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/_range$/, '')
    .replace(/^_+|_+$/g, '')
  // `[+]NUM` takes `+5`, which is no number to JSON.
  if (/\[\+|\+\|/.test(written) || /[^\w\s-]|[-_]or[-_]/i.test(name)) return { type: 'string' }
  if (integers.has(key)) return { type: 'integer' }
  if (numbers.has(key)) return { type: 'number' }
  if (paths.has(key)) return { type: 'path' }
  if (likelyIntegers.has(key)) return { type: 'integer', because: `type guessed from ${name}` }
  if (likelyNumbers.has(key)) return { type: 'number', because: `type guessed from ${name}` }
  if (likelyFiles.test(key)) return { type: 'path', because: `type guessed from ${name}` }
  return texts.has(key) || fallback === undefined ? { type: 'string' } : guessFromDefault(fallback)
}

function guessFromDefault(value: string): TypeGuess {
  if (/^-?\d{1,15}$/.test(value)) return { type: 'integer', because: `type guessed from the default ${value}` }
  if (/^-?\d{1,15}\.\d{1,15}$/.test(value)) return { type: 'number', because: `type guessed from the default ${value}` }
  return { type: 'string' }
}

/** Whether the value's name says that it is a list: `stringArray`, `list`, `map`. */
export const isListName = (name: string): boolean =>
  /^(?:list|map|mapping|strings|ints|uints|\w+(?:array|slice)|stringto\w+)$/i.test(name)

/** Whether the value's name says that it is true or false. */
export const isSwitchName = (value: HelpValue): boolean => /^bool(?:ean)?$/i.test(value.name)

const reads =
  /^(?:lists?|shows?|prints?|displays?|gets?|views?|describes?|search(?:es)?|finds?|counts?|compares?|inspects?|reports?)\b/i
const destroys = /^(?:deletes?|removes?|destroys?|purges?|erases?|wipes?|drops?|prunes?|uninstalls?)\b/i

/** The annotations that the first word of a description shows; none where it shows nothing. */
export function guessAnnotations({
  description,
}: Pick<DraftTool, 'description'>): Readonly<Record<string, boolean>> | undefined {
  if (destroys.test(description)) return { destructive: true }
  return reads.test(description) ? { read_only: true } : undefined
}

interface Caution {
  readonly flag: RegExp
  readonly text: RegExp
  readonly note: string
}

// Never matches: a caution that is known by its flag alone.
const never = /(?!)/

const cautions: readonly Caution[] = [
  {
    flag: /^--?(?:interactive|tty|edit|patch|prompt|ask-password|confirm\w*|terminal|pager)$/,
    text: /\binteractive(?:ly)?\b|\bopens? (?:an|the|your) editor|\bprompts? (?:for|before|the)\b|ask for confirmation/i,
    note: 'careful: interactive, and a tool has no terminal to answer at',
  },
  {
    flag: /^--?(?:watch|watch-only|follow|tail-follow|monitor)$/,
    text: never,
    note: 'careful: may never end by itself, so that only the timeout ends it',
  },
  {
    flag: /^--?(?:(?:\w+-)*(?:force|hard|mirror)|(?:\w+-)*(?:delete|prune|purge|remove|destroy|overwrite|wipe|unlink|erase)(?:-\w+)*)$/,
    text: /\bdangerous\b|\birreversibl|permanently|\bdestroys?\b/i,
    note: 'careful: can destroy something',
  },
  {
    flag: /^--?(?:insecure|no-verify|privileged|dangerously-.*|unsafe.*|skip-verif.*|no-check-.*|trust-.*|yes|assume-yes|auto-approve)$/,
    text: /\bwithout (?:verif|check|confirm|ask)|\bbypass/i,
    note: 'careful: turns a safeguard off',
  },
  {
    flag: /^--?(?:\w+-)*(?:exec|command|cmd|eval|script|receive-pack|upload-pack|to-command|use-compress-program)$/,
    text: never,
    note: 'careful: runs a command of its own',
  },
]

/** Risks to consider before offering an option to a model. */
export function findCautions(flags: readonly string[], description: string): readonly Note[] {
  const isPreventive = flags.some((flag) => /^--no-(?!verify|check)/.test(flag))
  const found = cautions.find(({ flag, text }) => flags.some((own) => flag.test(own)) || text.test(description))
  return found === undefined || isPreventive ? [] : [remark(found.note)]
}
