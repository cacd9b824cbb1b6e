import { basename } from 'node:path'

import type { ArgDef } from '../../../contract/cli-config.ts'

/** A remark that the draft carries as a comment. */
export interface Note {
  /** The key it stands beside; without one it stands above. */
  readonly at?: 'type' | 'enum' | 'positional' | undefined
  readonly text: string
  /** A guess to review. */
  readonly unsure: boolean
}

/** An argument to be written. */
export interface DraftArg extends Partial<Pick<ArgDef, 'flag' | 'items' | 'enum'>> {
  readonly name: string
  readonly type: ArgDef['type']
  readonly description: string
  readonly required?: boolean
  readonly positional?: boolean
  readonly repeat?: boolean
  readonly notes: readonly Note[]
}

/** A tool to be written. */
export interface DraftTool {
  readonly name: string
  readonly description: string
  readonly command: string
  readonly endOfOptions?: boolean
  readonly args: readonly DraftArg[]
  readonly notes: readonly Note[]
}

/** A config to be written. */
export interface Draft {
  readonly name: string
  readonly description: string
  readonly command: string
  readonly tools: readonly DraftTool[]
  /** Remarks on the whole, for the head of the file. */
  readonly notes: readonly Note[]
}

/** A guess to be checked. */
export const unsure = (text: string, at?: Note['at']): Note => ({ text, unsure: true, at })

/** Something worth knowing. */
export const remark = (text: string, at?: Note['at']): Note => ({ text, unsure: false, at })

const maxChars = 300

/** A text of the help as one tidy line that any YAML reader takes: bounded, and with its brackets in pairs. */
export function toDraftText(text: string, most = maxChars): string {
  const line = text.replace(/\s+/g, ' ').trim()
  const characters = Array.from(line)
  const short =
    characters.length <= most
      ? line
      : `${characters
          .slice(0, most - 1)
          .join('')
          .trimEnd()}…`
  return pairBrackets(short).replace(/ +/g, ' ').trim()
}

/** Our YAML reader counts brackets before it parses, in texts too: one that never closes would count as nesting. */
function pairBrackets(text: string): string {
  const characters = Array.from(text)
  const open: number[] = []
  for (const [index, char] of characters.entries()) {
    if (char === '[' || char === '{') open.push(index)
    else if ((char === ']' || char === '}') && open.pop() === undefined) characters[index] = ' '
  }
  for (const index of open) characters[index] = ' '
  return characters.join('')
}

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
export function takeFreeName(name: string, taken: Set<string>): string {
  let free = name
  for (let number = 2; taken.has(free); number++) free = `${name}_${number}`
  taken.add(free)
  return free
}
