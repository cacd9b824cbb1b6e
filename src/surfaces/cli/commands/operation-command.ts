import { Argument, type Command, Option } from 'commander'
import * as z from 'zod'
import { TooldexError } from '../../../base/errors.ts'
import { invoke } from '../../../operations/invoke.ts'
import type { Operation, ProcessContext } from '../../../operations/operation.ts'
import { formatTable } from '../format-table.ts'
import type { CliHost, RegistryClient } from '../host.ts'
import { collect, parseInteger, toJson } from './command.ts'
import {
  printWarnings,
  type RegistryFlags,
  type WithWarnings,
  withRegistry,
  withRegistryOptions,
} from './registry/registry-command.ts'

type Fields = Readonly<Record<string, unknown>>

/** A command that passes its arguments and options to one operation; their help and types are those of the input fields. */
interface OperationCommand<Input extends z.ZodObject, Output extends z.ZodType> {
  /** The word of the command and its arguments: `rollback <tool> <version>`. */
  readonly line: string
  /** Whether it runs where its group is named alone. */
  readonly isDefault?: boolean
  /** The help text, if the summary of the operation does not fit. */
  readonly about?: string
  readonly operation: Operation<Input, Output>
  /** The fields of the arguments, in order, where they have other names. */
  readonly fields?: readonly string[]
  /** Options such as `--limit <n>`; a field may have a longer name: `--expires <time>` sets expiresAt. */
  readonly options?: readonly string[]
  /** Whether the operation works on this machine, without a registry. */
  readonly isLocal?: boolean
  /** Opens what a local operation needs besides the configs. */
  readonly within?: <Result>(work: (context: ProcessContext) => Promise<Result>) => Promise<Result>
  /** Checks or completes the input before the registry is opened. */
  readonly prepare?: (input: Fields) => Fields | Promise<Fields>
  /** Replaces names in the input by ids of the registry. */
  readonly resolve?: (input: Fields, registry: RegistryClient) => Promise<Fields>
  /** Adds what other operations return to the answer; with --json, too. */
  readonly complete?: (answer: z.output<Output>, registry: RegistryClient) => Promise<z.output<Output>>
  readonly text: (answer: z.output<Output>, shown: Shown) => string
}

/** The input of a command, and the width of the terminal. */
interface Shown {
  readonly input: Fields
  readonly columns: number
}

/** Returns a function that adds commands to a group. */
export const operationCommands =
  (group: Command, host: CliHost) =>
  <Input extends z.ZodObject, Output extends z.ZodType>(spec: OperationCommand<Input, Output>): void => {
    const { line, operation, fields = [], options = [] } = spec
    const [word = '', ...args] = line.split(' ')
    const command = group
      .command(word, { isDefault: spec.isDefault ?? false })
      .description(spec.about ?? toHelp(operation.summary))
    const targets = args.map((arg, index) => fields[index] ?? arg.replaceAll(/\W/g, ''))
    // An argument that is not a field is consumed by `prepare`.
    const isField = (name = '') => spec.prepare === undefined || name in operation.input.shape
    for (const [index, arg] of args.entries())
      command.addArgument(toArgument(arg, isField(targets[index]) ? schemaOf(operation.input, targets[index]) : {}))
    for (const flags of options) command.addOption(toOption(flags, operation.input))
    if (spec.isLocal) command.option('--json', 'print JSON')
    else withRegistryOptions(command)
    command.action(async (...values: unknown[]) => {
      const { server, json, ...flags } = command.opts() as RegistryFlags & Record<string, unknown>
      const named = Object.entries(flags).map(([name, value]) => [fieldFor(operation.input, name), value])
      const placed = targets.map((field, index) => [field, values[index]])
      const typed = Object.fromEntries([...placed, ...named].filter(([, value]) => value !== undefined))
      const input = (await spec.prepare?.(typed)) ?? typed
      const { within = async (work) => work(await host.open({ configs: [] })) } = spec
      const answer = await (spec.isLocal
        ? within((context) => invoke(operation, input, context))
        : withRegistry(host, server === undefined ? {} : { server }, async (registry) => {
            const answer = await registry.invoke(operation, { ...((await spec.resolve?.(input, registry)) ?? input) })
            return spec.complete === undefined ? answer : spec.complete(answer, registry)
          })
      ).catch((thrown: unknown) => {
        throw inWordsOf(thrown, targets, args)
      })
      host.out(json ? toJson(answer) : spec.text(answer, { input, columns: host.columns }))
      if (!json) printWarnings(host, (answer ?? {}) as WithWarnings)
    })
  }

/** Replaces the names of fields in an error by those of the arguments: `idOrName` by `<tool>`. */
function inWordsOf(thrown: unknown, targets: readonly string[], args: readonly string[]): unknown {
  if (!(thrown instanceof TooldexError) || thrown.code !== 'INPUT_INVALID') return thrown
  const inWords = (text: string) =>
    targets.reduce((rest, field, index) => rest.replaceAll(new RegExp(`\\b${field}\\b`, 'g'), args[index] ?? ''), text)
  const { code, message, hint, personHint } = thrown
  const problems = thrown.problems.map((problem) => ({ ...problem, message: inWords(problem.message) }))
  return new TooldexError(code, inWords(message), { hint, personHint, problems, cause: thrown })
}

/** The help text of a sentence: `List tools.` is `list tools`. */
const toHelp = (sentence: string): string =>
  `${sentence.charAt(0).toLowerCase()}${sentence.slice(1)}`.replace(/(?<!\.)\.$/, '')

interface FieldSchema {
  readonly type?: string
  readonly description?: string
  readonly minimum?: number
  readonly enum?: readonly string[]
  readonly items?: FieldSchema
  readonly anyOf?: readonly FieldSchema[]
}

const fieldFor = ({ shape }: z.ZodObject, name: string): string =>
  name in shape ? name : (Object.keys(shape).find((field) => field.startsWith(name)) ?? name)

function schemaOf({ shape }: z.ZodObject, field = ''): FieldSchema {
  const schema = shape[field]
  if (schema === undefined) throw new TypeError(`There is no input field ${field}.`)
  const { anyOf = [], ...rest } = z.toJSONSchema(schema as z.ZodType, {
    io: 'input',
    unrepresentable: 'any',
  }) as FieldSchema
  return { ...(anyOf.find(({ type }) => type === 'integer') ?? {}), ...rest }
}

type Parser = (text: string, before: unknown) => unknown

function parserFor({ type, minimum = 0 }: FieldSchema): Parser | undefined {
  if (type === 'array') return collect as Parser
  return type === 'integer' ? parseInteger(Math.max(minimum, 0)) : undefined
}

function toArgument(name: string, schema: FieldSchema): Argument {
  const argument = new Argument(name, schema.description && toHelp(schema.description))
  const parse = schema.type === 'integer' ? parserFor(schema) : undefined
  return parse === undefined ? argument : argument.argParser(parse)
}

function toOption(flags: string, input: z.ZodObject): Option {
  const name = new Option(flags).attributeName()
  const schema = schemaOf(input, fieldFor(input, name))
  const values = schema.items?.enum
  const about = `${toHelp(schema.description ?? '')}${values === undefined ? '' : ` (${values.join(', ')})`}`
  const option = new Option(flags, about)
  const parse = parserFor(schema)
  if (schema.enum !== undefined) option.choices(schema.enum)
  return parse === undefined ? option : option.argParser(parse)
}

interface Page<Item> {
  readonly items: readonly Item[]
  readonly nextCursor?: string | undefined
  readonly total?: number | undefined
}

/** The text of a list: a table with these columns; an empty one is a sentence with the next step. */
export const tableText =
  <Item>(columns: Readonly<Record<string, (item: Item) => unknown>>, empty: string, noMatch = empty) =>
  ({ items, nextCursor, total }: Page<Item>, { input, columns: width }: Shown): string => {
    if (items.length === 0) return `${Object.keys(input).length === 0 ? empty : noMatch}\n`
    const rows = items.map((item) => Object.values(columns).map((cell) => String(cell(item) ?? '')))
    const count = total === undefined ? '' : `${total} in total\n`
    const next = input.page === undefined ? `--cursor ${nextCursor}` : `--page ${Number(input.page) + 1}`
    const more = nextCursor === undefined ? '' : `more: ${next}\n`
    return `${formatTable(Object.keys(columns), rows, width)}\n${count}${more}`
  }
