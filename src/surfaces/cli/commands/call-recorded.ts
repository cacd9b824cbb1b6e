import type { TooldexError } from '../../../base/errors.ts'
import type { Execution } from '../../../contract/execution.ts'
import { readJson } from '../../../documents/read-json.ts'
import { readSchemaParameters } from '../../../json-schema/read-parameters.ts'
import { isOfType } from '../../../json-schema/value-types.ts'
import { readDoc } from '../../../operations/registry/tool-doc.ts'
import { executeTool } from '../../../operations/runs/execute.ts'
import { requiredArgumentNames } from '../../../rules/build-input-schema.ts'
import type { CliHost, RecordedCall, RegistryClient } from '../host.ts'
import { type FlagProperty, type FlagTool, parseToolFlags, toolHelp } from '../tool-flags.ts'
import { type CallFlags, parseArgs } from './call.ts'
import { type PrintedOutput, printResult, waitingText } from './call-output.ts'
import { toJson } from './command.ts'
import { definedOptions, withRegistry } from './registry/registry-command.ts'

/** A call on the command line: the tool and the arguments after it. */
interface TypedCall {
  readonly name: string
  readonly args: readonly string[]
}

/** Calls a tool through the registry, printing its output while it runs; returns the exit code. */
export function callRecorded(host: CliHost, flags: CallFlags, typed: TypedCall): Promise<number> {
  return withRegistry(host, definedOptions({ server: flags.server }), (registry) =>
    callAt(host, registry, flags, typed),
  )
}

async function callAt(host: CliHost, registry: RegistryClient, flags: CallFlags, typed: TypedCall): Promise<number> {
  const name = flags.version === undefined ? typed.name : `${typed.name}@${flags.version}`
  const { tool, description, required } = await readRecorded(registry, name)
  const { values, own } = parseToolFlags(typed.args, tool)
  if (own.has('help')) {
    host.out(toolHelp(tool, description, required))
    return 0
  }
  const json = flags.json || own.has('json')
  const call = toCall(flags, typed.name, { ...parseArgs(flags.args), ...typedValues(values, tool.properties) })
  if (own.has('dry-run') || flags.dryRun) return printResult(host, await plan(registry, call), { json })
  if (flags.queue) return queue(host, registry, call, json)
  return runAndShow(host, registry, call, { json, waitForApproval: flags.wait === true })
}

async function runAndShow(
  host: CliHost,
  registry: RegistryClient,
  call: RecordedCall,
  { json, waitForApproval }: { json: boolean | undefined; waitForApproval: boolean },
): Promise<number> {
  const shown: PrintedOutput = { stdout: '', stderr: '' }
  let waiting: NodeJS.Timeout | undefined
  const onStatus = (execution: Execution): void => {
    clearTimeout(waiting)
    if (execution.reason === 'approval') host.err(approvalNotice(execution))
    if (execution.reason === 'queued')
      waiting = setTimeout(() => host.err(`The call waits for a worker (execution ${execution.id}).\n`), patienceMs)
  }
  const onOutput = (stream: keyof PrintedOutput, text: string): void => {
    if (json) return
    shown[stream] += text
    if (stream === 'stdout') host.out(text)
    else host.err(text)
  }
  try {
    const answer = await registry.call(call, { waitForApproval, onStatus, onOutput, onPause: pauseNotice(host) })
    return printResult(host, answer, { json, shown })
  } finally {
    clearTimeout(waiting)
  }
}

/** Reports a pause that a person would notice. */
const pauseNotice =
  (host: CliHost) =>
  ({ message }: TooldexError, ms: number): void => {
    if (ms >= patienceMs) host.err(`${message} Trying again in ${Math.ceil(ms / 1000)} s; Ctrl+C stops.\n`)
  }

// Most calls start at once; the user is notified about one that does not.
const patienceMs = 2000

const toCall = (
  { version, timeout, idempotencyKey }: CallFlags,
  name: string,
  values: Readonly<Record<string, unknown>>,
): RecordedCall => ({ name, arguments: values, ...definedOptions({ version, timeoutMs: timeout, idempotencyKey }) })

const plan = (registry: RegistryClient, call: RecordedCall) =>
  registry.call({ ...call, dryRun: true }, { waitForApproval: false, onStatus: () => {}, onOutput: () => {} })

/** Queues a call and prints its execution id. */
async function queue(
  host: CliHost,
  registry: RegistryClient,
  { name: idOrName, arguments: input, ...options }: RecordedCall,
  json: boolean | undefined,
): Promise<number> {
  const queued = await registry.invoke(executeTool, { idOrName, input, ...options })
  if (json) host.out(toJson(queued))
  else if ('id' in queued) host.out(`${queued.id}\n`)
  if (!json && 'id' in queued) host.err(`${approvalNotice(queued)}${howToFollow(host, queued.id)}`)
  return 0
}

/** Without a server the call would wait until one is started. */
const howToFollow = (host: CliHost, id: string): string =>
  host.findServer() === undefined
    ? `It waits for a server or worker. Start one with: tooldex serve, then: tooldex executions tail ${id}\n`
    : `Follow it with: tooldex executions tail ${id}\n`

const approvalNotice = ({ id: executionId, reason, expiresAt }: Execution): string =>
  reason === 'approval' ? waitingText({ executionId, expiresAt }) : ''

/** Reads the parts of a tool that define its flags; servers of older releases do not return positional arguments. */
export async function readRecorded(registry: RegistryClient, idOrName: string) {
  const doc = await registry.invoke(readDoc, { idOrName })
  const schema = doc.tool?.inputSchema ?? {}
  const { properties, required } = readSchemaParameters(schema)
  const positional = doc.positional ?? requiredArgumentNames(schema)
  const tool: FlagTool = { name: doc.name, properties: Object.fromEntries(properties), positional }
  return { tool, description: doc.tool?.description ?? '', required: [...required] }
}

type Properties = Readonly<Record<string, FlagProperty & { readonly items?: FlagProperty }>>

/** Converts strings to the types of a tool's schema; a string that cannot be converted stays, and the call rejects it. */
function typedValues(values: Readonly<Record<string, unknown>>, properties: Properties): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => {
      const { type, items } = properties[name] ?? {}
      if (!Array.isArray(value)) return [name, typed(value, type)]
      return [name, value.map((each) => typed(each, items?.type))]
    }),
  )
}

function typed(value: unknown, type: unknown): unknown {
  if (typeof value !== 'string') return value
  const types: readonly unknown[] = Array.isArray(type) ? type : [type]
  // A string stays a string if the schema allows strings or has no type.
  if (type === undefined || types.includes('string')) return value
  try {
    const parsed = readJson(value)
    return types.some((each) => isOfType(parsed, each)) ? parsed : value
  } catch {
    return value
  }
}
