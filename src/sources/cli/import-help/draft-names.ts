import { basename } from 'node:path'

const maxNameChars = 60

/** A name as tools and arguments have them: `--max-countX` is `max_count_x`. */
export function toArgumentName(text: string): string {
  return text
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '')
    .slice(0, maxNameChars)
    .replace(/_+$/, '')
}

/** The name of a program: its file without folders and the ending of a script; of `python3 -m json.tool`, all words but the options. */
export function nameProgram(words: readonly string[]): string {
  const [program = '', ...rest] = words
  const file = basename(program).replace(/\.(?:py|sh|js|mjs|cjs|ts|rb|pl|exe)$/i, '')
  return (
    toArgumentName([file, ...rest.filter((word) => !word.startsWith('-')).map((word) => basename(word))].join('_')) ||
    'program'
  )
}

/** The name of an option: its longest spelling; a lone letter says whether it is a capital. */
export function nameOption(flags: readonly string[]): { readonly name: string; readonly isLetter: boolean } {
  const long = longestFlag(flags)
  const bare = long.replace(/^-+/, '')
  if (bare.length > 1) return { name: startWithLetter(toArgumentName(bare)) || 'option', isLetter: false }
  const letter = /[A-Z]/.test(bare) ? `upper_${bare.toLowerCase()}` : toArgumentName(bare)
  return { name: startWithLetter(letter) || 'option', isLetter: true }
}

/** The spelling to use: the first long one, else one with a single dash. */
export const longestFlag = (flags: readonly string[]): string =>
  flags.find((flag) => flag.startsWith('--')) ?? flags.find((flag) => flag.length > 2) ?? flags[0] ?? ''

const startWithLetter = (name: string) => (/^[0-9]/.test(name) ? `option_${name}` : name)

/** Words as a command line that splits into them again. */
export const joinWords = (words: readonly string[]): string => words.map(quoteWord).join(' ')

function quoteWord(word: string): string {
  if (/^[\w.:@%+=/,-]+$/.test(word)) return word
  return `"${word.replace(/["\\$`]/g, '\\$&')}"`
}

/** The name, or the name with the first number that is free; the choice is remembered in `taken`. */
export function takeName(name: string, taken: Set<string>): string {
  let free = name
  for (let number = 2; taken.has(free); number++) free = `${name}_${number}`
  taken.add(free)
  return free
}
