/** Facts about the value in a description: default, choices, repetition. */
export interface ValueFacts {
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
