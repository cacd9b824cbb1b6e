import { TooldexError } from '../../base/errors.ts'
import { toPointer } from '../../base/problem.ts'
import { toOneLine } from '../../base/visible-text.ts'

const whole = /^\{\{\s*([^{}\s]+)\s*\}\}$/

/** The parameter that a word stands for; undefined for a word that stands for itself. */
export const parameterOf = (word: string): string | undefined => whole.exec(word)?.[1]

type Given = Readonly<Record<string, unknown>>

/** What a command is filled with. */
export interface Filling {
  readonly input: Given
  /** Parameters whose values may begin with a dash. */
  readonly dashes?: readonly string[] | undefined
}

/**
 * The words of a command with the values of its parameters in their places. Each value is one word, whatever is in it; a
 * list is as many words as it has; what is not given is no word, and takes the list it stands in with it.
 */
export function fillCommand(command: readonly (string | readonly string[])[], filling: Filling): readonly string[] {
  const words: string[] = []
  let afterSeparator = false
  for (const part of command) {
    const group = typeof part === 'string' ? [part] : part
    if (group.some((word) => isAbsent(word, filling.input))) continue
    for (const word of group) {
      const name = parameterOf(word)
      if (name === undefined) {
        words.push(word)
        afterSeparator ||= word === '--'
        continue
      }
      const free = afterSeparator || (filling.dashes ?? []).includes(name)
      words.push(...valuesOf(filling.input[name]).map((value) => toWord(name, value, free)))
    }
  }
  return words
}

const isAbsent = (word: string, input: Given): boolean => {
  const name = parameterOf(word)
  return name !== undefined && (!Object.hasOwn(input, name) || input[name] == null)
}

const valuesOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value])

function toWord(name: string, value: unknown, free: boolean): string {
  const word = argumentText(value)
  if (word.includes('\0')) throw refuse(name, 'contains a NUL byte', 'Leave it out.')
  if (!free && word.startsWith('-') && word !== '-')
    throw refuse(
      name,
      `'${toOneLine(word).slice(0, 100)}' starts with a dash and would be read as an option`,
      `For a file write ./${toOneLine(word).slice(0, 100)} instead.`,
    )
  return word
}

/** What a program gets of a value. */
export const argumentText = (value: unknown): string =>
  typeof value === 'string' ? value : typeof value === 'object' ? JSON.stringify(value) : String(value)

function refuse(name: string, why: string, hint: string): TooldexError {
  const message = `Argument '${name}': ${why}.`
  const problems = [{ severity: 'error', pointer: toPointer([name]), message } as const]
  return new TooldexError('INPUT_INVALID', message, { hint, problems })
}
