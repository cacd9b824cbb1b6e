import { type ErrorCode, errorTable, TooldexError } from '../../../base/errors.ts'
import { callTool } from '../../../operations/call-tool.ts'
import { describeTools } from '../../../operations/describe-tools.ts'
import { invoke } from '../../../operations/invoke.ts'
import type { OperationContext } from '../../../operations/operation.ts'
import { planText } from '../../../operations/result-text.ts'
import { type FlagTool, parseToolFlags, toolHelp } from '../tool-flags.ts'
import {
  type AddCommand,
  type ToolOptions,
  toJson,
  toOpenOptions,
  withLimitOptions,
  withToolOptions,
} from './command.ts'

interface CallFlags extends ToolOptions {
  readonly args?: string
  readonly dryRun?: boolean
}

/** `tooldex call TOOL --flag value`: runs a tool with flags made from its schema. */
export const addCall: AddCommand = (program, host, exit) => {
  const command = program
    .command('call')
    .description('run a tool; its flags are made from its schema (tooldex call TOOL --help)')
    .argument('<tool>', 'name or id of the tool')
    .argument('[flags...]', 'its arguments, as flags')
    .option('--args <json>', 'its arguments, as a JSON object')
    .option('--dry-run', 'show exactly what would run, and run nothing')
    // After the tool's name everything is the tool's, --help too.
    .passThroughOptions()
    .allowUnknownOption()
    .helpOption(false)
  withLimitOptions(withToolOptions(command)).action(async (name: string, words: string[], flags: CallFlags) => {
    if (name === '--help' || name === '-h') return command.outputHelp()
    const context = { ...host.open(toOpenOptions(flags)), signal: host.signal }
    const { tool, description, required } = await readTool(name, context)
    const { values, own } = parseToolFlags(words, tool)
    if (own.has('help')) return host.out(toolHelp(tool, description, required))
    const given = { ...parseArgs(flags.args), ...values }
    const dryRun = flags.dryRun || own.has('dry-run')
    const answer = await invoke(callTool, { name, arguments: given, dryRun }, context)
    const json = flags.json || own.has('json')
    if ('plan' in answer) return host.out(json ? toJson(answer) : `${planText(answer.plan)}\n`)
    if (!('outcome' in answer)) return host.out(json ? toJson(answer) : waitingText(answer))
    const { result, errorCode, errorMessage } = answer.outcome
    if (json) host.out(toJson(answer))
    else {
      host.out(result.stdout)
      host.err(result.stderr)
      if (errorMessage !== null) host.err(`${errorMessage}\n`)
    }
    if (errorCode !== null) exit(errorTable[errorCode as ErrorCode].exit)
  })
}

const waitingText = ({ executionId, expiresAt }: { executionId: string; expiresAt: string | null }): string =>
  `The call waits for a person's yes until ${expiresAt ?? 'it is given'}: tooldex executions approve ${executionId}\n`

async function readTool(name: string, context: OperationContext) {
  const { tools } = await invoke(describeTools, { ids: [name] }, context)
  const doc = tools[0] as (typeof tools)[number]
  const schema = doc.tool?.inputSchema ?? {}
  const properties = (schema.properties ?? {}) as FlagTool['properties']
  const args = context.catalogue.current().index.get(doc.name)?.tool.args ?? []
  const positional = args.filter((arg) => arg.positional !== false).map((arg) => arg.name)
  const tool: FlagTool = { name: doc.name, properties, positional }
  return { tool, description: doc.tool?.description ?? '', required: (schema.required ?? []) as readonly string[] }
}

function parseArgs(text: string | undefined): Record<string, unknown> {
  if (text === undefined) return {}
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  } catch {
    // Told below, like everything else that is no object.
  }
  throw new TooldexError('USAGE', '--args is not a JSON object.', { hint: `Write: --args '{"name": "value"}'` })
}
