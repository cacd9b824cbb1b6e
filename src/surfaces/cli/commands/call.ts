import { type Command, InvalidArgumentError, type Option } from 'commander'
import { TooldexError, toTooldexError } from '../../../base/errors.ts'
import { isObject } from '../../../base/json-values.ts'
import { readJson } from '../../../documents/read-json.ts'
import { readSchemaParameters } from '../../../json-schema/read-parameters.ts'
import { findUnregistered } from '../../../operations/catalog/resolve-name.ts'
import { invoke } from '../../../operations/invoke.ts'
import type { ProcessContext } from '../../../operations/operation.ts'
import { callTool } from '../../../operations/runs/call-tool.ts'
import { describeTools } from '../../../operations/search/describe-tools.ts'
import { bareNames } from '../../../rules/build-input-schema.ts'
import type { CliHost } from '../host.ts'
import { type FlagTool, liftOwnFlags, ownFlags, parseToolFlags, toolHelp } from '../tool-flags.ts'
import { printResult } from './call-output.ts'
import { type AddCommand, parseCount, toOpenOptions, withLimitOptions, withToolOptions } from './command.ts'
import { isLocal, queryServer, rejectServerWithLocal, type ServerFlags, withServerOption } from './query-server.ts'
import { definedOptions, withRegistry } from './registry/registry-command.ts'

/** The options of a call, apart from the arguments of the tool. */
export interface CallFlags extends ServerFlags {
  readonly args?: string
  readonly dryRun?: boolean
  readonly version?: number
  readonly timeout?: number
  readonly idempotencyKey?: string
  readonly queue?: boolean
  readonly wait?: boolean
}

/** `tooldex call TOOL --flag value`: runs a tool with flags derived from its schema. */
export const addCall: AddCommand = (program, host, exit) => {
  const command = program
    .command('call')
    .argument('<tool>', 'name or id of the tool; name@3 for version 3')
    .argument('[flags...]', 'arguments of the tool, as flags')
    .option('--args <json>', 'arguments of the tool, as a JSON object')
    .option('--dry-run', 'show what would run, without running it')
    .option('--timeout <seconds>', 'time limit of the call', parseSeconds)
    .option('--version <n>', 'run this version of a registered tool instead of the latest', parseCount)
    .option('--idempotency-key <key>', 'run the call only once for this key, even if it is repeated')
    .option('--queue', 'queue the call, print the execution id and exit')
    .option('--wait', 'wait for approval if the call needs it')
    // After the tool's name its arguments take precedence; --help is that of the tool.
    .passThroughOptions()
    .allowUnknownOption()
    .helpOption(false)
  withServerOption(withLimitOptions(withToolOptions(command))).action(
    async (name: string, typed: string[], before: CallFlags) => {
      if (name === '--help' || name === '-h') return command.outputHelp()
      const { args, flags } = await withLaterFlags(host, command, { name, typed, before })
      const context = await openLocal(host, flags, name)
      if (context !== undefined) return exit(await callLocal(host, flags, { name, args, context }))
      const { callRecorded } = await import('./call-recorded.ts')
      exit(await callRecorded(host, flags, { name, args }))
    },
  )
}

interface TypedCall {
  readonly name: string
  readonly typed: readonly string[]
  readonly before: CallFlags
}

/** Accepts options of the call after the tool's name, unless the tool has an argument of that name. */
async function withLaterFlags(host: CliHost, command: Command, { name, typed, before }: TypedCall) {
  const options = command.options
    .map((option) => ({ option, name: option.name(), takesValue: option.required || option.optional }))
    .filter((each) => !ownFlags.has(each.name))
  if (liftOwnFlags(typed, options).lifted.length === 0) return { args: typed, flags: before }
  const { lifted, rest } = liftOwnFlags(typed, options, await findTool(host, before, name))
  const flags: Record<string, unknown> = { ...before }
  for (const { name: key, value } of lifted) {
    const { option } = options.find((each) => each.name === key) as (typeof options)[number]
    const attribute = option.attributeName()
    flags[attribute] = parseOption(option, value, flags[attribute])
  }
  return { args: rest, flags: flags as CallFlags }
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

/** Resolves a tool without the options after its name; undefined if those determine where it is. */
async function findTool(host: CliHost, flags: CallFlags, name: string): Promise<FlagTool | undefined> {
  try {
    const context = await openLocal(host, flags, name)
    if (context !== undefined) return (await readTool(name, context)).tool
    const { readRecorded } = await import('./call-recorded.ts')
    const found = await withRegistry(host, definedOptions({ server: flags.server }), (registry) =>
      readRecorded(registry, name),
    )
    return found.tool
  } catch {
    return undefined
  }
}

/**
 * Opens the tools of local configs for calls that run directly: in this folder and unrecorded. Undefined for calls that the
 * registry runs and records: of a tool that no local config has, by the id of a registered tool, or with a server.
 */
async function openLocal(host: CliHost, flags: CallFlags, name: string): Promise<ProcessContext | undefined> {
  rejectServerWithLocal(flags)
  const local = isLocal(flags)
  if (flags.server !== undefined || (!local && host.findServer()?.named === true)) return undefined
  // A person at a terminal may run programs.
  const context = { ...(await host.open({ ...toOpenOptions(flags), codeMode: true })), signal: host.signal }
  const entry = findUnregistered(await context.catalog.open(), name)
  const isLocalTool = entry !== undefined && (local || (await resolvesLocally(host, flags, name, entry.id)))
  const usesRegistry = !local && (flags.queue === true || !isLocalTool) && host.registryExists()
  if (!usesRegistry && flags.queue)
    throw new TooldexError('USAGE', 'There is no server or database with a queue on this machine.', {
      hint: 'Start a server with: tooldex serve',
    })
  return usesRegistry ? undefined : context
}

/** Whether the local server resolves a name to the same tool, or does not have it. */
async function resolvesLocally(host: CliHost, flags: CallFlags, name: string, id: string): Promise<boolean> {
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

interface LocalCall {
  readonly name: string
  readonly args: readonly string[]
  readonly context: ProcessContext
}

async function callLocal(host: CliHost, flags: CallFlags, { name, args, context }: LocalCall): Promise<number> {
  const { tool, description, required } = await readTool(name, context)
  const { values, own } = parseToolFlags(args, tool)
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

async function readTool(name: string, context: ProcessContext) {
  const { tools } = await invoke(describeTools, { ids: [name] }, context)
  const doc = tools[0] as (typeof tools)[number]
  const { properties, required } = readSchemaParameters(doc.tool?.inputSchema ?? {})
  const args = findUnregistered(await context.catalog.open(), doc.id)?.runnable?.resolved?.tool.args ?? []
  const positional = bareNames(args)
  const tool: FlagTool = { name: doc.name, properties: Object.fromEntries(properties), positional }
  return { tool, description: doc.tool?.description ?? '', required: [...required] }
}

const argsHint = `Write: --args '{"name": "value"}'`

/** Parses `--args`. */
export function parseArgs(text: string | undefined): Record<string, unknown> {
  if (text === undefined) return {}
  const value = readArgs(text)
  if (isObject(value)) return value
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

/** Parses seconds to milliseconds; the maximum is one hour. */
function parseSeconds(text: string): number {
  const seconds = Number(text)
  if (!/^\d+(\.\d+)?$/.test(text) || seconds <= 0 || seconds > 3600)
    throw new InvalidArgumentError('Enter a number of seconds greater than 0 and at most 3600.')
  return Math.max(1, Math.round(seconds * 1000))
}
