import { TooldexError } from '../../base/errors.ts'
import { showInvisible } from '../../base/invisible-characters.ts'
import { didYouMean } from '../../base/suggest.ts'
import { toSentence } from '../../diagnostics/sentences.ts'

/** One property of a tool's input schema. */
export interface FlagProperty {
  readonly type?: unknown
  readonly description?: string
  readonly default?: unknown
  readonly enum?: readonly unknown[]
}

/** The parts of a tool that define its flags: the properties of its schema, and its positional arguments. */
export interface FlagTool {
  readonly name: string
  readonly properties: Readonly<Record<string, FlagProperty>>
  readonly positional: readonly string[]
}

/** Flags typed after a tool's name. */
export interface ParsedFlags {
  readonly values: Record<string, unknown>
  /** Flags of Tooldex itself: `--json`, `--dry-run`, `--help`. */
  readonly own: ReadonlySet<string>
}

/** Options of `tooldex call` that are parsed among the arguments of the tool. */
export const ownFlags: ReadonlySet<string> = new Set(['json', 'dry-run', 'help'])
// In this spelling they always belong to Tooldex: a dry run must never run a tool. An argument of the tool is `--dry_run`.
const reservedFlags = new Set(['dry-run', 'help'])
/** An option of `tooldex call` itself. */
interface OwnOption {
  readonly name: string
  readonly takesValue: boolean
}

/** Options of `tooldex call` among the arguments after a tool's name, and the remaining arguments. */
export interface LiftedFlags {
  readonly lifted: readonly { readonly name: string; readonly value: string | true }[]
  readonly rest: readonly string[]
}

/** Extracts options of `tooldex call` after a tool's name, except those that are also arguments of the tool. */
export function liftOwnFlags(args: readonly string[], options: readonly OwnOption[], tool?: FlagTool): LiftedFlags {
  const lifted: { name: string; value: string | true }[] = []
  const rest: string[] = []
  for (let index = 0; index < args.length; index++) {
    const arg = args[index] as string
    if (arg === '--') return { lifted, rest: [...rest, ...args.slice(index)] }
    const [, key = '', inline] = /^--([^=]+)(?:=(.*))?$/s.exec(arg) ?? []
    const property = tool === undefined ? undefined : findProperty(key, tool)
    const option = property === undefined ? options.find(({ name }) => name === key) : undefined
    const hasValue = option?.takesValue ?? (property !== undefined && tool?.properties[property]?.type !== 'boolean')
    const next = hasValue && inline === undefined ? args[index + 1] : undefined
    if (next !== undefined) index++
    if (option === undefined) rest.push(arg, ...(next === undefined ? [] : [next]))
    else if (option.takesValue && (inline ?? next) === undefined)
      throw new TooldexError('USAGE', `--${key} needs a value.`, { hint: 'See: tooldex call --help' })
    else lifted.push({ name: key, value: option.takesValue ? ((inline ?? next) as string) : true })
  }
  return { lifted, rest }
}

/**
 * Reads `--max-count 3 --oneline -- file.txt` by a tool's schema; after `--` there are no flags. The values stay strings: the
 * call validates and converts them.
 */
export function parseToolFlags(args: readonly string[], tool: FlagTool): ParsedFlags {
  const values: Record<string, unknown> = {}
  const own = new Set<string>()
  const remaining = [...tool.positional]
  const put = (name: string, value: unknown) => {
    const isArray = tool.properties[name]?.type === 'array'
    values[name] = isArray ? [...((values[name] as unknown[] | undefined) ?? []), value] : value
  }
  let isEnd = false
  for (let index = 0; index < args.length; index++) {
    const arg = args[index] as string
    const flag = /^--(?:([^=]+)(?:=(.*))?)?$/s.exec(arg)
    if (isEnd || flag === null) {
      const name = takePositional(remaining, tool)
      if (name === undefined) throw usage(`${tool.name} takes no further value: '${arg}'`, tool)
      put(name, arg)
      continue
    }
    const [, key = '', inline] = flag
    if (arg === '--') {
      isEnd = true
      continue
    }
    const name = reservedFlags.has(key) ? undefined : findProperty(key, tool)
    if (name === undefined && ownFlags.has(key)) own.add(key)
    else if (name === undefined) throw usage(unknownFlag(key, tool), tool)
    else if (tool.properties[name]?.type === 'boolean') put(name, inline ?? 'true')
    else if (inline !== undefined) put(name, inline)
    else if (index + 1 < args.length) put(name, args[++index])
    else throw usage(`--${key} needs a value`, tool)
  }
  return { values, own }
}

function unknownFlag(key: string, tool: FlagTool): string {
  const suggestion = didYouMean(key, flagNames(tool))
  return `${tool.name} has no --${key}${suggestion === '' ? '' : `.${suggestion}`}`
}

/** An array takes all remaining arguments. */
function takePositional(remaining: string[], tool: FlagTool): string | undefined {
  const [next] = remaining
  if (next !== undefined && tool.properties[next]?.type !== 'array') remaining.shift()
  return next
}

function findProperty(key: string, tool: FlagTool): string | undefined {
  const plain = (text: string) => text.replaceAll(/[-_]/g, '').toLowerCase()
  return Object.keys(tool.properties).find((name) => name === key || plain(name) === plain(key))
}

const flagNames = (tool: FlagTool) => Object.keys(tool.properties).map((name) => name.replaceAll('_', '-'))

const usage = (message: string, tool: FlagTool) =>
  new TooldexError('USAGE', toSentence(message), {
    hint: `See: tooldex call ${tool.name} --help`,
  })

/** The help of one tool from its schema: positional arguments first, in their order. */
export function toolHelp(tool: FlagTool, description: string, required: readonly string[]): string {
  const names = new Set([...tool.positional, ...Object.keys(tool.properties)])
  const rows = [...names].map((name) => {
    const property = tool.properties[name] ?? {}
    const flag = `--${name.replaceAll('_', '-')}${property.type === 'boolean' ? '' : ` <${String(property.type ?? 'value')}>`}`
    const notes = [
      required.includes(name) ? 'required' : '',
      tool.positional.includes(name) ? 'the flag may be omitted' : '',
      property.enum === undefined ? '' : `one of ${property.enum.join(', ')}`,
      property.default === undefined ? '' : `default ${JSON.stringify(property.default)}`,
    ].filter((note) => note !== '')
    return `  ${flag.padEnd(28)} ${property.description ?? ''}${notes.length > 0 ? ` (${notes.join('; ')})` : ''}`
  })
  return showInvisible([`Usage: tooldex call ${tool.name} [flags]`, '', description, '', ...rows, ''].join('\n'))
}
