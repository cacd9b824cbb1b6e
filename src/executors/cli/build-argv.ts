import { TooldexError } from '../../base/errors.ts'
import type { Environment } from '../../base/expand-variables.ts'
import { toPointer } from '../../base/problem.ts'
import { splitCommandWords, splitWords } from '../../base/split-words.ts'
import type { ArgDef, Scalar } from '../../contract/cli-config.ts'
import type { ArgValue, ArgValues } from '../../contract/executor.ts'
import { inPositionalOrder } from '../../rules/build-input-schema.ts'
import type { RunRequest } from './prepare-command.ts'

/**
 * The argument vector of a call. No shell is involved: each value is exactly one argument, whatever it contains.
 *
 *   base command | tool command | flags | global flags | [--] positionals        with end_of_options
 *   base command | tool command | positionals | flags | global flags             otherwise, as CLImax orders them
 */
export function buildArgv({ tool: resolved, values, globals }: RunRequest, env: Environment): readonly string[] {
  const { tool, baseCommand, globalArgs } = resolved
  const baseArguments = splitCommandWords(baseCommand, env)
  const positionals = positionalArguments(tool.args, values)
  const flags = tool.args.filter(isFlag).flatMap((arg) => flagArguments(arg, values.get(arg.name)))
  const globalFlags = globalArgs.flatMap((arg) => flagArguments(arg, globals.get(arg.name)))
  const command = [...baseArguments, ...splitWords(tool.command)]
  const argv = tool.endOfOptions
    ? [
        ...command,
        ...flags,
        ...globalFlags,
        ...(positionals.length > 0 ? ['--'] : []),
        ...positionals.map((item) => item.word),
      ]
    : [...command, ...positionals.map(refuseLeadingDash), ...flags, ...globalFlags]
  for (const word of argv) if (word.includes('\0')) throw refuse('', 'an argument contains a NUL byte', 'Remove it.')
  return argv
}

interface Positional {
  readonly name: string
  readonly word: string
}

function positionalArguments(args: readonly ArgDef[], values: ArgValues): readonly Positional[] {
  const ordered = inPositionalOrder(args.filter((arg) => arg.positional !== false && !arg.cwd && !arg.stdin))
  return ordered.flatMap((arg) => {
    const value = values.get(arg.name)
    return value === undefined ? [] : [value].flat().map((item) => ({ name: arg.name, word: String(item) }))
  })
}

/** Rejects a value that the program would read as an option. */
function refuseLeadingDash({ name, word }: Positional): string {
  if (word.startsWith('-') && word !== '-') {
    const hint = word.includes('/') ? 'Remove the dash.' : `For a file, use ./${word}.`
    throw refuse(name, `'${word.slice(0, 100)}' starts with a dash and would be read as an option`, hint)
  }
  return word
}

const isFlag = (arg: ArgDef) => arg.positional === false && !arg.cwd && !arg.stdin

function flagArguments(arg: ArgDef, value: ArgValue | undefined): readonly string[] {
  if (value === undefined) return []
  const flag = arg.flag ?? `--${arg.name.replaceAll('_', '-')}`
  const values = [value].flat() as readonly Scalar[]
  if (arg.type === 'array' && !arg.repeat && !flag.endsWith('=')) {
    const words = values.map((item) => refuseLeadingDash({ name: arg.name, word: String(item) }))
    return words.length === 0 ? [] : [flag, ...words]
  }
  return values.flatMap((item) => oneFlag(arg, flag, item))
}

function oneFlag(arg: ArgDef, flag: string, value: Scalar): readonly string[] {
  if (arg.type === 'boolean') return isTrue(value) ? [flag] : []
  return flag.endsWith('=') ? [`${flag}${value}`] : [flag, String(value)]
}

const isTrue = (value: Scalar) => value === true || value === 1 || /^(true|1)$/i.test(String(value))

function refuse(name: string, message: string, hint: string): TooldexError {
  const text = name === '' ? `The call was refused: ${message}.` : `Argument '${name}': ${message}.`
  const problems = [{ severity: 'error', pointer: toPointer(name === '' ? [] : [name]), message: text } as const]
  return new TooldexError('INPUT_INVALID', text, { hint, problems })
}
