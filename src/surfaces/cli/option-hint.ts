import type { Command } from 'commander'
import { fromPointer, type Problem } from '../../base/problem.ts'
import { toOneLine } from '../../base/visible-text.ts'

const maxValue = 100

/** Names the options and arguments of a command line that problems are about, with their values and what they accept. */
export function optionHint(command: Command, problems: readonly Problem[]): string | undefined {
  const inputs = listInputs(command)
  const lines = problems.flatMap(({ pointer = '' }) => {
    const [field = '', index] = fromPointer(pointer)
    const input = findInput(inputs, field)
    return input === undefined ? [] : [describe(input, index)]
  })
  return lines.length === 0 ? undefined : [...new Set(lines)].join('\n      ')
}

interface Input {
  readonly name: string
  /** The spelling on the command line: `--limit`, or `QUERY` for an argument. */
  readonly written: string
  readonly accepted: string
  readonly value: unknown
}

function listInputs(command: Command): readonly Input[] {
  const options = command.options.map((option) => {
    const name = option.attributeName()
    const accepted = `${option.flags}: ${option.description}`
    return { name, written: option.long ?? option.flags, accepted, value: command.getOptionValue(name) }
  })
  const args = command.registeredArguments.map((argument, index) => {
    const name = argument.name()
    return { name, written: name, accepted: `<${name}>: ${argument.description}`, value: command.processedArgs[index] }
  })
  return [...options, ...args].filter(({ value }) => value !== undefined)
}

/** Field names may extend the option name: `--budget` sets budgetTokens, and a repeated `--tag` sets tags. */
function findInput(inputs: readonly Input[], field: string): Input | undefined {
  const near = inputs.filter(({ name }) => name.length >= 3 && field.startsWith(name))
  return inputs.find(({ name }) => name === field) ?? near.sort((a, b) => b.name.length - a.name.length)[0]
}

function describe({ written, accepted, value }: Input, index: string | undefined): string {
  const one = Array.isArray(value) && index !== undefined ? value[Number(index)] : value
  const text = toOneLine(typeof one === 'string' ? one : JSON.stringify(one))
  const excerpt = text.length > maxValue ? `${text.slice(0, maxValue)}…` : text
  return `Correct ${written} '${excerpt}'. ${accepted}`
}
