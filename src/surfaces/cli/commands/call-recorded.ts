import type { Execution } from '../../../contract/execution.ts'
import { requiredNames } from '../../../contract/positional-names.ts'
import { readDoc } from '../../../operations/registry/tool-doc.ts'
import { executeTool } from '../../../operations/runs/execute.ts'
import type { CliHost, RecordedCall, RegistryClient } from '../host.ts'
import { type FlagTool, parseToolFlags, toolHelp } from '../tool-flags.ts'
import { typedValues } from '../typed-values.ts'
import { type CallFlags, parseArgs } from './call.ts'
import { printResult, type Shown, waitingText } from './call-output.ts'
import { toJson } from './command.ts'
import { given, withRegistry } from './registry/registry-command.ts'

/** A call as it was typed. */
interface TypedCall {
  readonly name: string
  readonly words: readonly string[]
}

/** Calls a tool where calls are recorded, showing what it prints while it runs; gives the exit code. */
export function callRecorded(host: CliHost, flags: CallFlags, typed: TypedCall): Promise<number> {
  return withRegistry(host, given({ server: flags.server }), (registry) => callAt(host, registry, flags, typed))
}

async function callAt(host: CliHost, registry: RegistryClient, flags: CallFlags, typed: TypedCall): Promise<number> {
  const asked = flags.version === undefined ? typed.name : `${typed.name}@${flags.version}`
  const { tool, description, required } = await readRecorded(registry, asked)
  const { values, own } = parseToolFlags(typed.words, tool)
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
  const shown: Shown = { stdout: '', stderr: '' }
  let waiting: NodeJS.Timeout | undefined
  const onStatus = (execution: Execution): void => {
    clearTimeout(waiting)
    if (execution.reason === 'approval') host.err(whatFor(execution))
    if (execution.reason === 'queued')
      waiting = setTimeout(() => host.err(`The call waits for a worker (execution ${execution.id}).\n`), patienceMs)
  }
  const onOutput = (stream: keyof Shown, text: string): void => {
    if (json) return
    shown[stream] += text
    if (stream === 'stdout') host.out(text)
    else host.err(text)
  }
  try {
    const answer = await registry.call(call, { waitForApproval, onStatus, onOutput })
    return printResult(host, answer, { json, shown })
  } finally {
    clearTimeout(waiting)
  }
}

// Most calls are taken at once; of one that is not, whoever waits should know.
const patienceMs = 2000

const toCall = (
  { version, timeout, idempotencyKey }: CallFlags,
  name: string,
  values: Readonly<Record<string, unknown>>,
): RecordedCall => ({ name, arguments: values, ...given({ version, timeoutMs: timeout, idempotencyKey }) })

const plan = (registry: RegistryClient, call: RecordedCall) =>
  registry.call({ ...call, dryRun: true }, { waitForApproval: false, onStatus: () => {}, onOutput: () => {} })

/** Puts a call into the queue and says where it will be found. */
async function queue(
  host: CliHost,
  registry: RegistryClient,
  { name: idOrName, arguments: input, ...options }: RecordedCall,
  json: boolean | undefined,
): Promise<number> {
  const begun = await registry.invoke(executeTool, { idOrName, input, ...options })
  if (json) host.out(toJson(begun))
  else if ('id' in begun) host.out(`${begun.id}\n`)
  if (!json && 'id' in begun) host.err(`${whatFor(begun)}${howToFollow(host, begun.id)}`)
  return 0
}

/** Where no server runs here, and none elsewhere was named, it would wait for ever. */
const howToFollow = (host: CliHost, id: string): string =>
  host.findServer() === undefined
    ? `It waits until a server or worker takes it: tooldex serve, then: tooldex executions tail ${id}\n`
    : `follow it with: tooldex executions tail ${id}\n`

const whatFor = ({ id: executionId, reason, expiresAt }: Execution): string =>
  reason === 'approval' ? waitingText({ executionId, expiresAt }) : ''

/** The tool as its flags are made; a server of an older release does not say which arguments need no flag. */
export async function readRecorded(registry: RegistryClient, idOrName: string) {
  const doc = await registry.invoke(readDoc, { idOrName })
  const schema = doc.tool?.inputSchema ?? {}
  const properties = (schema.properties ?? {}) as FlagTool['properties']
  const required = (schema.required ?? []) as readonly string[]
  const positional = doc.positional ?? requiredNames(schema)
  const tool: FlagTool = { name: doc.name, properties, positional }
  return { tool, description: doc.tool?.description ?? '', required }
}
