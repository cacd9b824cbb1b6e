import { TooldexError } from '../../base/errors.ts'
import { toOneLine } from '../../base/invisible-characters.ts'
import { toPointer } from '../../base/problem.ts'

const whole = /^\{\{\s*([^{}\s]+)\s*\}\}$/

/** The parameter that an argument is a placeholder for; undefined for a literal argument. */
export const parameterOf = (argument: string): string | undefined => whole.exec(argument)?.[1]

type Input = Readonly<Record<string, unknown>>

/** The values that a command is filled with. */
export interface Filling {
  readonly input: Input
  /** Parameters whose values may begin with a dash. */
  readonly dashes?: readonly string[] | undefined
}

/**
 * The arguments of a command with its parameters filled in. Each value is one argument, whatever it contains; an array is
 * one argument per item; an absent value is omitted together with the array that contains its placeholder.
 */
export function fillCommand(command: readonly (string | readonly string[])[], filling: Filling): readonly string[] {
  const args: string[] = []
  let afterSeparator = false
  for (const part of command) {
    const group = typeof part === 'string' ? [part] : part
    if (group.some((argument) => isAbsent(argument, filling.input))) continue
    for (const argument of group) {
      const name = parameterOf(argument)
      if (name === undefined) {
        args.push(argument)
        afterSeparator ||= argument === '--'
        continue
      }
      const mayStartWithDash = afterSeparator || (filling.dashes ?? []).includes(name)
      args.push(...valuesOf(filling.input[name]).map((value) => toArgument(name, value, mayStartWithDash)))
    }
  }
  return args
}

const isAbsent = (argument: string, input: Input): boolean => {
  const name = parameterOf(argument)
  return name !== undefined && (!Object.hasOwn(input, name) || input[name] == null)
}

const valuesOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value])

function toArgument(name: string, value: unknown, mayStartWithDash: boolean): string {
  const argument = argumentText(value)
  if (argument.includes('\0')) throw refuse(name, 'contains a NUL byte', 'Remove it.')
  if (!mayStartWithDash && argument.startsWith('-') && argument !== '-')
    throw refuse(
      name,
      `'${toOneLine(argument).slice(0, 100)}' starts with a dash and would be read as an option`,
      `For a file, use ./${toOneLine(argument).slice(0, 100)}.`,
    )
  return argument
}

/** A value as the text of an argument: objects and arrays as JSON. */
export const argumentText = (value: unknown): string =>
  typeof value === 'string' ? value : typeof value === 'object' ? JSON.stringify(value) : String(value)

function refuse(name: string, why: string, hint: string): TooldexError {
  const message = `Argument '${name}': ${why}.`
  const problems = [{ severity: 'error', pointer: toPointer([name]), message } as const]
  return new TooldexError('INPUT_INVALID', message, { hint, problems })
}
