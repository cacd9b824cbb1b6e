import type { HelpValue } from './parsed-help.ts'

/** How the value stood behind its option. */
interface ValuePlace {
  readonly optional?: boolean
  readonly inline?: boolean
}

const plainWord = /^[\w.+:@-]+$/
// Words that name a kind of value, so that `<data|filename>` is not taken for a choice of two values.
const kinds = new Set(
  'args bool branch bytes cmd command commit count data date dest dir directory enum file filename files filter folder format glob group host hostname id int integer json key label level list mode n name names num number object package path pathspec pattern pid pkg port range ref regex rev revision size spec str string tag target text time type uid gid uri url user value version when word'.split(
    ' ',
  ),
)

/** Reads what stands behind an option: `<FILE>`, `[=WHEN]`, `{a,b}`, `N [N ...]`, `string`. */
export function readHelpValue(text: string, { optional = false, inline = false }: ValuePlace = {}): HelpValue {
  const trimmed = text.trim()
  const many = /\.\.\./.test(trimmed) && trimmed !== '...'
  const { choices, sure } = readChoices(trimmed)
  const name = cleanName(trimmed)
  const bracketed = trimmed.startsWith('[') && bracketLength(trimmed) === trimmed.length && choices.length === 0
  return {
    name: choices.length > 0 ? '' : name,
    written: trimmed,
    optional: optional || (bracketed && !many),
    inline,
    choices,
    sureChoices: sure,
    words: many && /\s/.test(trimmed) && !inline ? 'many' : countWords(trimmed, choices),
  }
}

/** Whether a value, as written, may be given any number of times: `<FILE>...`. */
export const isOpenEnded = (text: string): boolean =>
  /[^\s.=]\.\.\.[\])>]*$/.test(text.trim()) && !/\s/.test(text.trim())

/** The values listed in `{a,b}`, `[a|b]`, `(a|b)` or `<a|b>`. */
export function readChoices(text: string): { readonly choices: readonly string[]; readonly sure: boolean } {
  const inner = unwrap(text.replace(/\.\.\.$/, ''))
  const commas = inner.startsWith('{') || text.includes('{')
  const bare = unwrap(inner).trim()
  const parts = bare.split(commas && !bare.includes('|') ? ',' : '|').map((part) => part.trim())
  const none = { choices: [], sure: false }
  if (parts.length < 2 || !parts.every((part) => plainWord.test(part))) return none
  // In `{ COMMAND | help }` one of the two is a name.
  if (parts.some(isMetavar) && !parts.every(isMetavar)) return none
  const angled = text.includes('<') || !/[{[(]/.test(text)
  if (angled && !text.includes('{') && parts.some((part) => kinds.has(part.toLowerCase()) || isMetavar(part)))
    return none
  return { choices: [...new Set(parts)], sure: !angled || text.includes('{') }
}

const isMetavar = (word: string) => /^[A-Z][A-Z0-9_-]+$/.test(word)

/** Two metavars side by side are two words on the command line; `INTEGER RANGE` and `<file name>` are one. */
function countWords(text: string, choices: readonly string[]): number {
  if (choices.length > 0 || / RANGE$/.test(text)) return 1
  const words = text.match(/<[^<>]*>|[^\s<>]+/g) ?? []
  const all = words.every((word) => /^<.*>$/.test(word) || /^[A-Z][A-Z0-9_-]*$/.test(word) || /^[a-z]$/.test(word))
  return all && /\s/.test(text) ? Math.max(words.length, 1) : 1
}

function unwrap(text: string): string {
  const trimmed = text.trim()
  return /^[[(<{]/.test(trimmed) && bracketLength(trimmed) === trimmed.length ? trimmed.slice(1, -1) : trimmed
}

/** Parts in square brackets may be left out: `MAJOR[.MINOR]` is a `MAJOR`, `[user@]host` a `host`. */
function cleanName(text: string): string {
  const core = text.replace(/\[[^[\]]*\]/g, '').replace(/\[[^[\]]*\]/g, '')
  return (/\w/.test(core) ? core : text)
    .replace(/\.\.\./g, ' ')
    .replace(/[[(][-+.=:|,/]*[\])]/g, ' ')
    .replace(/[<>[\]{}()"'`]/g, ' ')
    .replace(/^\+(?=int)/, '')
    .replace(/\s+/g, ' ')
    .trim()
}

const closers: Readonly<Record<string, string>> = { '[': ']', '(': ')', '{': '}', '<': '>' }

/** The length of the bracketed text that starts at `start`, brackets included; 0 where it is not one or never closes. */
export function bracketLength(text: string, start = 0): number {
  const waiting: string[] = []
  for (let index = start; index < text.length; index++) {
    const char = text.charAt(index)
    const closer = closers[char]
    if (closer !== undefined) waiting.push(closer)
    else if (char === waiting.at(-1)) waiting.pop()
    if (waiting.length === 0) return index === start ? 0 : index + 1 - start
  }
  return 0
}

/** The first word of a text, where brackets hold words together: `<file name>` and `MAJOR[.MINOR]` are one each. */
export function takeWord(text: string): string {
  let index = 0
  while (index < text.length && !/\s/.test(text.charAt(index))) index += bracketLength(text, index) || 1
  return text.slice(0, index)
}

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
  return { value: { ...readHelpValue(''), inline: false, literal: literal.replace(/^'|'$/g, '') }, length: rest.length }
}

/** `=VALUE`, `[=VALUE]`, `<mode>` or `[N]` right behind the flag. */
function takeJoined(rest: string, flag: string): Found | undefined {
  if (rest.startsWith('=')) return takeAssigned(rest, flag)
  const length = /^[[<]/.test(rest) ? bracketLength(rest) : 0
  if (length === 0) return undefined
  const inner = rest.slice(1, length - 1)
  if (rest.startsWith('<')) return { value: readHelpValue(rest.slice(0, length)), length }
  const value = readHelpValue(inner.replace(/^=/, ''), { optional: true, inline: true })
  return { value: value.words === 'many' ? { ...value, words: 1 } : value, length }
}

/** `=VALUE`; `-out=path` with its single dash has to be written that way, and `-lock=false` shows one of two values. */
function takeAssigned(rest: string, flag: string): Found {
  const word = takeWord(rest.slice(1)).replace(/[,|]+$/, '')
  const inline = /^-[^-]./.test(flag)
  const isSwitch = /^(?:true|false)$/.test(word)
  const value = readHelpValue(isSwitch ? '{true,false}' : word)
  const literal = /^-?\d/.test(word) ? word : undefined
  return { value: { ...value, optional: false, inline: inline || isSwitch, literal }, length: word.length + 1 }
}

/** A value after a space: bracketed or in capitals anywhere, any few words where the text is set apart. */
function takeSpaced(rest: string, alone: boolean): Found | undefined {
  if (!rest.startsWith(' ')) return undefined
  const list = /^(?: [A-Z][\w-]*)? \[[\w-]+ \.\.\.\]/.exec(rest)
  if (list !== null) return { value: readHelpValue(list[0]), length: list[0].length }
  const behind = rest.slice(1)
  const until = behind.search(/,? -|\s?\|\s?-| \/ | or -/)
  const whole = until < 0 ? behind : behind.slice(0, until)
  if (mayBeValue(whole, alone)) return { ...withTrailingOption(whole), length: whole.length + 1 }
  const words = takeBracketed(behind)
  if (words !== '') return { value: readHelpValue(words), length: words.length + 1 }
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
    value:
      optional === null ? readHelpValue(text) : readHelpValue(optional[1] as string, { optional: true, inline: true }),
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

/** Facts about the value in a description: default, choices, repetition. */
interface ValueFacts {
  readonly default?: string | undefined
  readonly choices: readonly string[]
  /** The choices were listed in a form made for it. */
  readonly sureChoices: boolean
  readonly required: boolean
  readonly repeatable: boolean
}

const maxChars = 2000
const maxGuessedChoices = 8
// `(ms|s|m|h)` is a notation, not a list of values.
const units = new Set('ns us ms s m h d b k g t kb mb gb'.split(' '))
const quotes = /^["'`]+|["'`]+$/g

const sureLists = [/\[possible values: ([^\]]+)\]/i, /[([](?:choices|choose from|allowed values):? ([^)\]]+)[)\]]/i]
const guessedLists = [
  /\((?:one of|either):? ([^)]+)\)/i,
  /\b(?:one of|must be|(?:optional|allowed|valid|supported|possible) [a-z]{2,12}(?: are)?):? \(?([^().;:]+)/i,
  /\b(?:is|be|either|one of):? ("[^"]+"[^.;()]*|'[^']+'[^.;()]*)/i,
  /\(("[^()]+")\)/,
  /\(([\w-]+(?:\|[\w-]+)+)\)/,
  /\[([\w-]+(?:, [\w-]+)+)\]/,
]
const defaults = [
  /\(\s?defaults?(?: is| to)?\s?[:=]?\s?("[^"]*"|'[^']*'|[^);]+)[);]/i,
  /\[\s?defaults?(?: is| to)?\s?[:=]?\s?("[^"]*"|'[^']*'|[^\];]+)[\];]/i,
  /\bdefaults?(?: is| to|:) ("[^"]*"|'[^']*'|-?\d[\w.]*\b|[\w./-]*\w(?=[.,;)]|$))/i,
]
const again =
  /(?:multiple|several) times|more than once|\(repeatable\)|is repeatable|(?:can|may) be (?:repeated|given repeatedly)|\[multiple\]/i

/** Reads defaults, choices and the like out of the lines of a description. */
export function readValueFacts(lines: readonly string[]): ValueFacts {
  const text = lines.join(' ').slice(0, maxChars)
  const listed = readListed(lines)
  const sure = listed.length > 0 ? listed : firstList(sureLists, text)
  const choices = sure.length > 0 ? sure : firstList(guessedLists, text)
  return {
    default: readDefault(text),
    choices: sure.length > 0 || choices.length <= maxGuessedChoices ? choices : [],
    sureChoices: sure.length > 0,
    required: /[([;,]\s?required[)\]]/i.test(text),
    repeatable: again.test(text),
  }
}

/** clap's long help lists one value a line: `- auto: when the output is a terminal`. */
function readListed(lines: readonly string[]): readonly string[] {
  const start = lines.findIndex((line) => /^\[?possible values:$/i.test(line))
  if (start < 0) return []
  return lines.slice(start + 1).flatMap((line) => /^- ([\w.+-]+)(?::|$)/.exec(line)?.[1] ?? [])
}

function firstList(patterns: readonly RegExp[], text: string): readonly string[] {
  for (const pattern of patterns) {
    const items = splitList(pattern.exec(text)?.[1] ?? '')
    if (items.length >= 2) return items
  }
  return []
}

/** `a, b or c` as values; nothing where one of them is prose. */
function splitList(list: string): readonly string[] {
  const items = list
    .split(/,\s*(?:or |and )?| or | and |\|/)
    .map((item) => item.trim().replace(quotes, ''))
    .filter((item) => item !== '')
  if (items.every((item) => units.has(item))) return []
  return items.every((item) => /^[\w.+-]+$/.test(item)) ? [...new Set(items)] : []
}

function readDefault(text: string): string | undefined {
  for (const pattern of defaults) {
    const found = pattern.exec(text)?.[1]?.trim()
    if (found === undefined) continue
    const number = /^(-?\d+(?:\.\d+)?)(?: [a-z]+)?$/.exec(found)?.[1]
    const value = number ?? found.replace(quotes, '')
    if (value !== '' && !/^(?:map)?\[/.test(value) && (number !== undefined || value !== found || !/\s/.test(value)))
      return value
  }
  return undefined
}
