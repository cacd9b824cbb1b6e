import { indentOf } from './clean-help-text.ts'
import { parseFlagLine } from './parse-flag-line.ts'
import type { Section } from './split-help.ts'

/** The usage lines of a help text, each joined to one line, and the lines that follow them. */
export interface UsageForms {
  readonly forms: readonly string[]
  readonly rest: readonly string[]
}

const maxForms = 30
const maxFormChars = 4000

/** Collects the usage lines of a usage section: each starts with the program's name or `or:`, others continue it. */
export function readUsageForms(lines: readonly string[]): UsageForms {
  const first = lines.findIndex((line) => line !== '')
  if (first < 0) return { forms: [], rest: [] }
  const program = firstWord(lines[first] ?? '')
  const forms: string[] = []
  let index = first
  for (; index < lines.length; index++) {
    const line = lines[index] ?? ''
    if (line === '' || (forms.length > 0 && isOptionRow(line))) break
    const isNew = forms.length === 0 || /^\s*or:/i.test(line) || firstWord(line) === program
    if (!isNew && indentOf(line) === 0) break
    const text = line.trim().replace(/^or:\s*/i, '')
    if (isNew) forms.push(text)
    else forms.push(`${forms.pop()} ${text}`)
  }
  return { forms: forms.slice(0, maxForms).map((form) => form.slice(0, maxFormChars)), rest: lines.slice(index) }
}

/** An option with words about it, where a usage line would have more options or brackets. */
const isOptionRow = (line: string) => /^[A-Za-z("'`][^[|]* /.test(`${parseFlagLine(line)?.text ?? ''} `)

/** The usage of a text without a usage heading: a line that is a synopsis of the program itself. */
export function findBareUsage(sections: readonly Section[], program: string): readonly string[] {
  const lines = sections[0]?.lines ?? []
  const line = lines.find((text) => firstWord(text) === program && /^\S+ +(?:[[<]|[A-Z]{3,})/.test(text.trim()))
  return line === undefined ? [] : [line.trim()]
}

const firstWord = (line: string) => /^\S*/.exec(line.trim())?.[0] ?? ''
