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
