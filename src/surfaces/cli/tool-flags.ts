import { TooldexError } from '../../base/errors.ts'
import { toSentence } from '../../base/sentences.ts'
import { didYouMean } from '../../base/suggest.ts'
import { showInvisible } from '../../base/visible-text.ts'

/** One property of a tool's input schema. */
export interface FlagProperty {
  readonly type?: unknown
  readonly description?: string
  readonly default?: unknown
  readonly enum?: readonly unknown[]
}

/** A tool as its flags are made: its schema, and which arguments may be given without a flag. */
export interface FlagTool {
  readonly name: string
  readonly properties: Readonly<Record<string, FlagProperty>>
  readonly positional: readonly string[]
}

/** Flags typed after a tool's name. */
export interface ParsedFlags {
  readonly values: Record<string, unknown>
  /** Words that belong to Tooldex itself: `--json`, `--dry-run`, `--help`. */
  readonly own: ReadonlySet<string>
}

const ownFlags = new Set(['json', 'dry-run', 'help'])
// Spelled like this they are always ours: who asks what would run must never see it run. A tool's own is `--dry_run`.
const alwaysOurs = new Set(['dry-run', 'help'])
/** An option of `tooldex call` itself. */
interface OwnOption {
  readonly name: string
  readonly takesValue: boolean
}

/** Options of `tooldex call` among the words after a tool's name, and the words that are left. */
export interface LiftedFlags {
  readonly lifted: readonly { readonly name: string; readonly value: string | true }[]
  readonly rest: readonly string[]
}

/** Takes our own options out of the words after a tool's name; where the tool has an argument of that name, it is the tool's. */
export function liftOwnFlags(words: readonly string[], options: readonly OwnOption[], tool?: FlagTool): LiftedFlags {
  const lifted: { name: string; value: string | true }[] = []
  const rest: string[] = []
  for (let index = 0; index < words.length; index++) {
    const word = words[index] as string
    const [, key = '', inline] = /^--([^=]+)(?:=(.*))?$/s.exec(word) ?? []
    const property = tool === undefined ? undefined : findProperty(key, tool)
    const option = property === undefined ? options.find(({ name }) => name === key) : undefined
    const hasValue = option?.takesValue ?? (property !== undefined && tool?.properties[property]?.type !== 'boolean')
    const next = hasValue && inline === undefined ? words[index + 1] : undefined
    if (next !== undefined) index++
    if (option === undefined) rest.push(word, ...(next === undefined ? [] : [next]))
    else if (option.takesValue && (inline ?? next) === undefined)
      throw new TooldexError('USAGE', `--${key} needs a value.`, { hint: 'See: tooldex call --help' })
    else lifted.push({ name: key, value: option.takesValue ? ((inline ?? next) as string) : true })
  }
  return { lifted, rest }
}

/** Reads `--max-count 3 --oneline file.txt` by a tool's schema. The values stay texts: the call checks and converts them. */
export function parseToolFlags(words: readonly string[], tool: FlagTool): ParsedFlags {
  const values: Record<string, unknown> = {}
  const own = new Set<string>()
  const waiting = [...tool.positional]
  const put = (name: string, value: unknown) => {
    const list = tool.properties[name]?.type === 'array'
    values[name] = list ? [...((values[name] as unknown[] | undefined) ?? []), value] : value
  }
  for (let index = 0; index < words.length; index++) {
    const word = words[index] as string
    const flag = /^--([^=]+)(?:=(.*))?$/s.exec(word)
    if (flag === null) {
      const name = takePositional(waiting, tool)
      if (name === undefined) throw usage(`${tool.name} takes no further value: '${word}'`, tool)
      put(name, word)
      continue
    }
    const [, key = '', inline] = flag
    const name = alwaysOurs.has(key) ? undefined : findProperty(key, tool)
    if (name === undefined && ownFlags.has(key)) own.add(key)
    else if (name === undefined) throw usage(unknownFlag(key, tool), tool)
    else if (tool.properties[name]?.type === 'boolean') put(name, inline ?? 'true')
    else if (inline !== undefined) put(name, inline)
    else if (index + 1 < words.length) put(name, words[++index])
    else throw usage(`--${key} needs a value`, tool)
  }
  return { values, own }
}

function unknownFlag(key: string, tool: FlagTool): string {
  const meant = didYouMean(key, flagNames(tool))
  return `${tool.name} has no --${key}${meant === '' ? '' : `.${meant}`}`
}

/** A list takes all the words that are left. */
function takePositional(waiting: string[], tool: FlagTool): string | undefined {
  const [next] = waiting
  if (next !== undefined && tool.properties[next]?.type !== 'array') waiting.shift()
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

/** The help of one tool, made from its schema: first the values that need no flag, in the order in which they are taken. */
export function toolHelp(tool: FlagTool, description: string, required: readonly string[]): string {
  const names = new Set([...tool.positional, ...Object.keys(tool.properties)])
  const rows = [...names].map((name) => {
    const property = tool.properties[name] ?? {}
    const flag = `--${name.replaceAll('_', '-')}${property.type === 'boolean' ? '' : ` <${String(property.type ?? 'value')}>`}`
    const notes = [
      required.includes(name) ? 'required' : '',
      tool.positional.includes(name) ? 'may be given without the flag' : '',
      property.enum === undefined ? '' : `one of ${property.enum.join(', ')}`,
      property.default === undefined ? '' : `default ${JSON.stringify(property.default)}`,
    ].filter((note) => note !== '')
    return `  ${flag.padEnd(28)} ${property.description ?? ''}${notes.length > 0 ? ` (${notes.join('; ')})` : ''}`
  })
  return showInvisible([`Usage: tooldex call ${tool.name} [flags]`, '', description, '', ...rows, ''].join('\n'))
}
