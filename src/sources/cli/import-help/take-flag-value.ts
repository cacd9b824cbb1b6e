import type { HelpValue } from './parsed-help.ts'
import { readValue } from './read-value.ts'
import { bracketLength, takeWord } from './take-word.ts'

const metavar = /^(?:N|[A-Z][A-Z0-9_.:|/=,-]+)(?:\.\.\.)?$/

/** A value, and how much of the text it took. */
interface Found {
  readonly value: HelpValue
  readonly length: number
}

/** Takes the value that stands behind a flag; `alone` where only flags and values can stand in the text. */
export function takeFlagValue(rest: string, flag: string, alone: boolean): Found | undefined {
  return takeLiteral(rest) ?? takeJoined(rest, flag) ?? takeSpaced(rest, alone)
}

/** `--chunk-size=500:` and `--filename=[]:` show a default, and end the line. */
function takeLiteral(rest: string): Found | undefined {
  const literal = /^=('[^']*'|\[[^\]]*\]|[^\s:]*):$/.exec(rest)?.[1]
  if (literal === undefined) return undefined
  return { value: { ...readValue(''), inline: false, literal: literal.replace(/^'|'$/g, '') }, length: rest.length }
}

/** `=VALUE`, `[=VALUE]`, `<mode>` or `[N]` right behind the flag. */
function takeJoined(rest: string, flag: string): Found | undefined {
  if (rest.startsWith('=')) return takeAssigned(rest, flag)
  const length = /^[[<]/.test(rest) ? bracketLength(rest) : 0
  if (length === 0) return undefined
  const inner = rest.slice(1, length - 1)
  if (rest.startsWith('<')) return { value: readValue(rest.slice(0, length)), length }
  const value = readValue(inner.replace(/^=/, ''), { optional: true, inline: true })
  return { value: value.words === 'many' ? { ...value, words: 1 } : value, length }
}

/** `=VALUE`; `-out=path` with its single dash has to be written that way, and `-lock=false` shows one of two values. */
function takeAssigned(rest: string, flag: string): Found {
  const word = takeWord(rest.slice(1)).replace(/[,|]+$/, '')
  const inline = /^-[^-]./.test(flag)
  const isSwitch = /^(?:true|false)$/.test(word)
  const value = readValue(isSwitch ? '{true,false}' : word)
  const literal = /^-?\d/.test(word) ? word : undefined
  return { value: { ...value, optional: false, inline: inline || isSwitch, literal }, length: word.length + 1 }
}

/** A value after a space: bracketed or in capitals anywhere, any few words where the text is set apart. */
function takeSpaced(rest: string, alone: boolean): Found | undefined {
  if (!rest.startsWith(' ')) return undefined
  const list = /^(?: [A-Z][\w-]*)? \[[\w-]+ \.\.\.\]/.exec(rest)
  if (list !== null) return { value: readValue(list[0]), length: list[0].length }
  const behind = rest.slice(1)
  const until = behind.search(/,? -|\s?\|\s?-| \/ | or -/)
  const whole = until < 0 ? behind : behind.slice(0, until)
  if (mayBeValue(whole, alone)) return { ...withTrailingOption(whole), length: whole.length + 1 }
  const words = takeBracketed(behind)
  if (words !== '') return { value: readValue(words), length: words.length + 1 }
  return undefined
}

/** Whether a whole run of words is a value name; without a gap behind it only a single word is believed. */
function mayBeValue(text: string, alone: boolean): boolean {
  // openssl writes `+int` for a number that is not negative.
  if (text === '' || !/^(?:\+(?=int))?[\w<[({'"]/.test(text) || text.length > 120) return false
  const words = text.replace(/<[^<>]*>/g, 'x').split(' ').length
  return words <= (alone ? 3 : 1) && !/[;!?]|[,:]$/.test(text)
}

/** helm writes `string[="unchanged"]` where the value may be left out. */
function withTrailingOption(text: string): { value: HelpValue } {
  const optional = /^([\w-]+)\[=.*\]$/.exec(text)
  return {
    value: optional === null ? readValue(text) : readValue(optional[1] as string, { optional: true, inline: true }),
  }
}

function takeBracketed(text: string): string {
  let taken = ''
  for (;;) {
    const rest = text.slice(taken.length)
    const word = takeWord(rest.trimStart())
    const isValue = /^[[<{(]/.test(word) ? bracketLength(word) > 0 && isTight(word) : metavar.test(word) && taken === ''
    if (word === '' || !isValue || (taken !== '' && !rest.startsWith(' '))) return taken
    taken = text.slice(0, taken.length + rest.indexOf(word) + word.length)
  }
}

/** `(default)` and `[deprecated]` open a description; `(a|b)`, `<x>`, `[TYPE]` and `[user@]host` are values. */
const isTight = (word: string) =>
  /^[<{]/.test(word) ||
  word.includes('|') ||
  /^\[<|^\[[A-Z]/.test(word) ||
  (bracketLength(word) < word.length && /[\w\]]$/.test(word))
