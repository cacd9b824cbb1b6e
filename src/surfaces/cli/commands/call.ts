import { type Command, InvalidArgumentError, type Option } from 'commander'
import { TooldexError, toTooldexError } from '../../../base/errors.ts'
import { bareNames } from '../../../contract/positional-names.ts'
import { readJson } from '../../../documents/read-json.ts'
import { configToolId } from '../../../operations/catalog/live-catalog.ts'
import { invoke } from '../../../operations/invoke.ts'
import type { OperationContext } from '../../../operations/operation.ts'
import { callTool } from '../../../operations/runs/call-tool.ts'
import { describeTools } from '../../../operations/search/describe-tools.ts'
import type { CliHost } from '../host.ts'
import { type FlagTool, liftOwnFlags, parseToolFlags, toolHelp } from '../tool-flags.ts'
import { printResult } from './call-output.ts'
import { type AddCommand, parseCount, toOpenOptions, withLimitOptions, withToolOptions } from './command.ts'
import { isLocal, queryServer, refuseBoth, type ServerFlags, withServerOption } from './query-server.ts'
import { given, withRegistry } from './registry/registry-command.ts'

/** The options of a call, apart from the tool's own. */
export interface CallFlags extends ServerFlags {
  readonly args?: string
  readonly dryRun?: boolean
  readonly version?: number
  readonly timeout?: number
  readonly idempotencyKey?: string
  readonly queue?: boolean
  readonly wait?: boolean
}

/** `tooldex call TOOL --flag value`: runs a tool with flags made from its schema. */
export const addCall: AddCommand = (program, host, exit) => {
  const command = program
    .command('call')
    .argument('<tool>', 'name or id of the tool; name@3 is its version 3')
    .argument('[flags...]', 'its arguments, as flags')
    .option('--args <json>', 'its arguments, as a JSON object')
    .option('--dry-run', 'show exactly what would run, and run nothing')
    .option('--timeout <seconds>', 'how long it may take', parseSeconds)
    .option('--version <n>', 'run this version of a registered tool, not the latest', parseCount)
    .option('--idempotency-key <key>', 'make this call once, however often it is repeated under this key')
    .option('--queue', 'only put it into the queue, and print its execution')
    .option('--wait', "where the call needs a person's yes, wait for it")
    // After the tool's name its own arguments come first; --help is the tool's.
    .passThroughOptions()
    .allowUnknownOption()
    .helpOption(false)
  withServerOption(withLimitOptions(withToolOptions(command))).action(
    async (name: string, typed: string[], before: CallFlags) => {
      if (name === '--help' || name === '-h') return command.outputHelp()
      const { words, flags } = await withLaterFlags(host, command, { name, typed, before })
      const context = await openHere(host, flags, name)
      if (context !== undefined) return exit(await callHere(host, flags, { name, words, context }))
      const { callRecorded } = await import('./call-recorded.ts')
      exit(await callRecorded(host, flags, { name, words }))
    },
  )
}

interface TypedWords {
  readonly name: string
  readonly typed: readonly string[]
  readonly before: CallFlags
}

/** Options of the call may stand after the tool's name, too, unless the tool has an argument of that name. */
async function withLaterFlags(host: CliHost, command: Command, { name, typed, before }: TypedWords) {
  const ofTool = new Set(['json', 'dry-run', 'help'])
  const options = command.options
    .map((option) => ({ option, name: option.name(), takesValue: option.required || option.optional }))
    .filter((each) => !ofTool.has(each.name))
  if (liftOwnFlags(typed, options).lifted.length === 0) return { words: typed, flags: before }
  const { lifted, rest } = liftOwnFlags(typed, options, await findTool(host, before, name))
  const flags: Record<string, unknown> = { ...before }
  for (const { name: key, value } of lifted) {
    const { option } = options.find((each) => each.name === key) as (typeof options)[number]
    const attribute = option.attributeName()
    flags[attribute] = parseOption(option, value, flags[attribute])
  }
  return { words: rest, flags: flags as CallFlags }
}

function parseOption(option: Option, value: string | true, previous: unknown): unknown {
  try {
    return value === true || option.parseArg === undefined ? value : option.parseArg(value, previous)
  } catch (thrown) {
    if (!(thrown instanceof InvalidArgumentError)) throw thrown
    throw new TooldexError('USAGE', `${option.long} '${value}' is invalid. ${thrown.message}`, {
      hint: 'See: tooldex call --help',
    })
  }
}

/** The tool that a name means without what is typed after it; undefined where only that says where to look. */
async function findTool(host: CliHost, flags: CallFlags, name: string): Promise<FlagTool | undefined> {
  try {
    const context = await openHere(host, flags, name)
    if (context !== undefined) return (await readTool(name, context)).tool
    const { readRecorded } = await import('./call-recorded.ts')
    const found = await withRegistry(host, given({ server: flags.server }), (registry) => readRecorded(registry, name))
    return found.tool
  } catch {
    return undefined
  }
}

/**
 * The tools of configs, where the call is made among them: at once, in this folder and unrecorded. A tool that no config
 * here has, one whose very id was given, and every tool where a server is named, is called there and recorded.
 */
async function openHere(host: CliHost, flags: CallFlags, name: string): Promise<OperationContext | undefined> {
  refuseBoth(flags)
  const local = isLocal(flags)
  if (flags.server !== undefined || (!local && host.findServer()?.named === true)) return undefined
  const context = { ...(await host.open(toOpenOptions(flags))), signal: host.signal }
  const entry = context.catalog.current().names.get(name)
  const known = entry !== undefined && (local || (await isMeantHere(host, flags, name, configToolId(entry))))
  const elsewhere = !local && (flags.queue === true || !known) && host.hasRegistry()
  if (!elsewhere && flags.queue)
    throw new TooldexError('USAGE', 'There is no database with a queue here.', {
      hint: 'Start a server with: tooldex serve',
    })
  return elsewhere ? undefined : context
}

/** Whether a name means this tool to the server that runs here, too; what the server does not know is meant here. */
async function isMeantHere(host: CliHost, flags: CallFlags, name: string, id: string): Promise<boolean> {
  if (name === id || host.findServer()?.key === undefined) return true
  try {
    const input = { ids: [name], level: 'summary' as const }
    const answer = await queryServer(host, flags, (registry) => registry.invoke(describeTools, input))
    return answer === undefined || answer.value.tools[0]?.id === id
  } catch (thrown) {
    if (toTooldexError(thrown).code === 'TOOL_NOT_FOUND') return true
    throw thrown
  }
}

interface CallHere {
  readonly name: string
  readonly words: readonly string[]
  readonly context: OperationContext
}

async function callHere(host: CliHost, flags: CallFlags, { name, words, context }: CallHere): Promise<number> {
  const { tool, description, required } = await readTool(name, context)
  const { values, own } = parseToolFlags(words, tool)
  if (own.has('help')) {
    host.out(toolHelp(tool, description, required))
    return 0
  }
  const { version, timeout, idempotencyKey } = flags
  const call = {
    name,
    arguments: { ...parseArgs(flags.args), ...values },
    dryRun: flags.dryRun || own.has('dry-run'),
    version,
    idempotencyKey,
    timeoutMs: timeout,
  }
  const answer = await invoke(callTool, call, context)
  return printResult(host, answer, { json: flags.json || own.has('json') })
}

async function readTool(name: string, context: OperationContext) {
  const { tools } = await invoke(describeTools, { ids: [name] }, context)
  const doc = tools[0] as (typeof tools)[number]
  const schema = doc.tool?.inputSchema ?? {}
  const properties = (schema.properties ?? {}) as FlagTool['properties']
  const args = context.catalog.current().index.get(doc.name)?.tool.args ?? []
  const positional = bareNames(args)
  const tool: FlagTool = { name: doc.name, properties, positional }
  return { tool, description: doc.tool?.description ?? '', required: (schema.required ?? []) as readonly string[] }
}

const argsHint = `Write: --args '{"name": "value"}'`

/** What `--args` says. */
export function parseArgs(text: string | undefined): Record<string, unknown> {
  if (text === undefined) return {}
  const value = readArgs(text)
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  throw new TooldexError('USAGE', '--args is not a JSON object.', { hint: argsHint })
}

function readArgs(text: string): unknown {
  try {
    return readJson(text)
  } catch (error) {
    const { message, problems } = error as TooldexError
    throw new TooldexError('USAGE', `--args: ${message}`, { hint: problems[0]?.hint ?? argsHint })
  }
}

/** Seconds as milliseconds; a call may take an hour. */
function parseSeconds(text: string): number {
  const seconds = Number(text)
  if (!/^\d+(\.\d+)?$/.test(text) || seconds <= 0 || seconds > 3600)
    throw new InvalidArgumentError('Write seconds, at most 3600.')
  return Math.max(1, Math.round(seconds * 1000))
}
