import {
  type CallToolResult,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
} from '@modelcontextprotocol/server'
import type * as z from 'zod'
import { type TooldexError, toErrorBody, toTooldexError } from '../../base/errors.ts'
import { toOneLine } from '../../base/invisible-characters.ts'
import { isObject } from '../../base/json-values.ts'
import { didYouMean } from '../../base/suggest.ts'
import { suggestionSteps, WorkBudget } from '../../base/work-budget.ts'
import type { LogMessage, RequestedInput } from '../../contract/executor.ts'
import { toProblemError } from '../../diagnostics/problem-error.ts'
import type { Operation } from '../../operations/operation.ts'
import type { CallControls, RecordedCall, RegistryClient } from '../../operations/registry-client/registry-client.ts'
import type { CallAnswer } from '../../operations/runs/call-tool.ts'
import { answerOfExecution } from '../../operations/runs/execution-result.ts'
import { getExecution } from '../../operations/runs/executions.ts'
import { describeTools } from '../../operations/search/describe-tools.ts'
import { searchTools } from '../../operations/search/search-tools.ts'
import { runCodeName } from '../../rules/builtin-names.ts'
import { showHiddenInResult, suspiciousNote } from '../../rules/suspicious-result.ts'
import { approvalText, outcomeText, planText } from '../text/result-text.ts'
import { type ApprovalOptions, applyDecision, requestApproval, untilEnded } from './approvals.ts'
import { callerInputOf, orSignIn, type Round, toInputRequired } from './client-rounds.ts'
import { toContentBlocks } from './content-blocks.ts'
import { type MetaToolName, metaToolArguments } from './meta-tools.ts'
import { looseKeys, readCall } from './read-call.ts'
import type { LogReporter } from './report-run.ts'
import { resultScheme } from './resources.ts'
import { describeText, searchText } from './response-text.ts'
import { toTask } from './tasks.ts'

type Arguments = Readonly<Record<string, unknown>>

/** One request of a client, with the registry client that handles it. */
export interface McpRequest extends Pick<CallControls, 'signal' | 'trace' | 'onProgress'> {
  readonly client: RegistryClient
  /** The abilities of the client beyond a single response; if absent, it has none. */
  readonly interaction?: Interaction | undefined
}

/** The abilities of a client beyond a single response. */
interface Interaction {
  readonly round: Round
  readonly approvals: ApprovalOptions
  /** Whether a call that takes long may be answered with a task. */
  readonly canBecomeTask: boolean
  /** The log of a tool while it runs, as far as the client wants it. */
  readonly log: LogReporter
}

/** A result, or in its place a request for input of the client or a task, which have a `resultType`. */
export type CallResult = CallToolResult

const handlers: Record<MetaToolName, (args: Arguments, request: McpRequest) => Promise<CallResult>> = {
  search_tools: (args, request) => respond(searchTools, args, request, searchText),
  describe_tool: (args, request) => respond(describeTools, readIds(args), request, describeText),
  call_tool: (args, request) => runCall(readCall(args), request),
}

/** Argument names that models use besides the listed ones. */
const alsoAccepted: Record<MetaToolName, readonly string[]> = {
  search_tools: Object.keys(searchTools.input.shape),
  describe_tool: ['id', 'name', 'tool_name', 'format'],
  call_tool: [],
}

/** Handles a call of a meta tool; an invalid input is returned as a tool error with a hint. */
export function handleMetaTool(name: MetaToolName, args: Arguments, request: McpRequest): Promise<CallResult> {
  return orToolError(async () => {
    const names = name === 'call_tool' ? looseKeys(args) : Object.keys(args)
    rejectUnknown(name, names, { listed: metaToolArguments(name), accepted: alsoAccepted[name] })
    return handlers[name](args, request)
  })
}

/** Handles `climax_call`, which ignores unknown arguments. */
export const handleClimaxCall = (args: Arguments, request: McpRequest): Promise<CallResult> =>
  orToolError(() => handlers.call_tool(args, request))

/** Handles a call of a tool that is listed directly. */
export function handleListedTool(name: string, args: Arguments, request: McpRequest): Promise<CallResult> {
  return orToolError(() => runCall({ name, arguments: args }, request))
}

async function respond<Input extends z.ZodType, Output extends z.ZodType>(
  operation: Operation<Input, Output>,
  args: Arguments,
  { client, signal, trace }: McpRequest,
  toText: (output: z.output<Output>) => string,
): Promise<CallToolResult> {
  const output = await client.invoke(operation, args, { signal, trace })
  return { content: [{ type: 'text', text: toText(output) }], structuredContent: output as Record<string, unknown> }
}

// Longer than a worker needs to claim a call, and shorter than the timeout of clients.
const patienceMs = 5000
// Many clients give up after a minute; those with tasks are answered sooner.
const respondMs = 50_000
const taskMs = 500

async function runCall(call: Arguments, { client, interaction, ...request }: McpRequest): Promise<CallResult> {
  const { round, log } = interaction ?? {}
  const resumed = round?.resumed?.executionId
  if (interaction !== undefined && resumed !== undefined)
    return resumeCall(client, resumed, interaction, request.signal)
  const controls = {
    ...request,
    waitForApproval: false,
    patienceMs,
    respondMs: interaction?.canBecomeTask ? taskMs : respondMs,
    callerInput: round && callerInputOf(round, log?.level),
    onOutput: (stream: string, text: string, message?: LogMessage) =>
      void (stream === 'stderr' && log?.send(text, message)),
    onStatus: () => {},
  }
  // The registry client validates the call.
  const result = await orSignIn(client.call(call as unknown as RecordedCall, controls), round)
  if ('resultType' in result) return result as unknown as CallResult
  const requested = interaction && (await requestInput(result, call.arguments, interaction))
  return requested ?? toResult(client, result, interaction)
}

/** The request for the input that a call waits for, if the client can provide it. */
async function requestInput(
  result: CallAnswer,
  args: unknown,
  { round, approvals }: Interaction,
): Promise<CallResult | undefined> {
  if ('waitsFor' in result && result.waitsFor === 'approval') {
    const { executionId, tool } = result
    return asResult(await requestApproval({ executionId, tool, arguments: args }, round, approvals))
  }
  const { errorCode, output } = 'outcome' in result ? result.outcome : {}
  if (errorCode !== 'INPUT_REQUIRED' || !isObject(output)) return undefined
  if (isObject(output.requiredCapabilities)) throw missingCapability(output.requiredCapabilities)
  if (!isObject(output.inputRequests)) return undefined
  return asResult(await toInputRequired(round, output as unknown as RequestedInput))
}

const missingCapability = (requiredCapabilities: object) =>
  new MissingRequiredClientCapabilityError({ requiredCapabilities })

const asResult = (result: object | undefined): CallResult | undefined => result as CallResult | undefined

/** Continues a call after the client was requested to approve it. */
async function resumeCall(
  client: RegistryClient,
  executionId: string,
  interaction: Interaction,
  signal: AbortSignal | undefined,
): Promise<CallResult> {
  await applyDecision(client, interaction.round, executionId)
  const withinMs = interaction.canBecomeTask ? taskMs : respondMs
  const execution = await untilEnded(client, executionId, withinMs, signal)
  return toResult(client, { tool: execution.toolName, ...answerOfExecution(execution) }, interaction)
}

async function toResult(client: RegistryClient, result: CallAnswer, interaction?: Interaction): Promise<CallResult> {
  if ('plan' in result) {
    const { plan, needsApproval, approvalBy, warning } = result
    const text = `${planText(plan)}${approvalText(approvalBy)}${warning === undefined ? '' : `\n(${warning})`}`
    const warningField = warning === undefined ? {} : { warning }
    return {
      content: [{ type: 'text', text }],
      structuredContent: { plan, needsApproval, approvalBy, ...warningField },
    }
  }
  if ('outcome' in result) return toEndedCallResult(result)
  const url = interaction?.approvals.approvalUrl(result.executionId)
  if (!interaction?.canBecomeTask) return waitingResult(result, url)
  const execution = await client.invoke(getExecution, { id: result.executionId })
  return { content: [], resultType: 'task', ...toTask(execution, url) }
}

/** The result of a call that has ended; one that tries to direct its reader is marked, and hides nothing. */
export function toEndedCallResult(ended: Ended): CallToolResult {
  const { suspicious } = ended.outcome
  if (suspicious === undefined) return plainResult(ended)
  const shown = plainResult({ ...ended, outcome: showHiddenInResult(ended.outcome) as Ended['outcome'] })
  return {
    ...shown,
    content: [{ type: 'text', text: suspiciousNote(suspicious) }, ...shown.content],
    structuredContent: { suspicious, ...(shown.structuredContent as object) },
  }
}

function plainResult({ tool, outcome, executionId, stored, warning }: Ended): CallToolResult {
  const { status, result, output, errorCode, errorMessage } = outcome
  const failed = status !== 'SUCCESS'
  const text = [
    ...(tool === runCodeName ? programTexts(outcome) : [outcomeText(outcome)]),
    ...(stored === undefined ? [] : [storedText(stored)]),
    ...(warning === undefined ? [] : [`(${warning})`]),
  ]
  return {
    content: [
      ...((failed ? undefined : toContentBlocks(output)) ?? [{ type: 'text', text: text.join('\n\n') }]),
      ...(stored === undefined ? [] : [linkTo(stored)]),
    ],
    structuredContent: {
      ...result,
      ...(output === undefined ? {} : { output }),
      ...(failed ? { status, errorCode, errorMessage } : {}),
      ...(executionId === undefined ? {} : { executionId }),
      ...(stored === undefined ? {} : { stored }),
      ...(warning === undefined ? {} : { warning }),
    },
    ...(failed ? { isError: true } : {}),
  }
}

/** The returned value of a program, if it has one, and its console lines. */
function programTexts({ output, ...outcome }: Ended['outcome']): string[] {
  const { stdout } = outcome.result
  if (output === undefined || output === null) return [outcomeText({ ...outcome, output: stdout })]
  return [outcomeText({ ...outcome, output }), ...(stdout === '' ? [] : [`[console]\n${stdout.trim()}`])]
}

type Ended = Extract<CallAnswer, { outcome: unknown }>
type Waiting = Extract<CallAnswer, { waitsFor: unknown }>

const storedText = ({ handle, bytes }: NonNullable<Ended['stored']>): string =>
  `[This is the beginning of ${bytes} bytes. Read more with call_tool: name "tooldex:read_result", arguments {"handle": "${handle}"}, with offset and limit, grep, or path (JSONPath).]`

const linkTo = ({ handle, mediaType, bytes }: NonNullable<Ended['stored']>) => ({
  type: 'resource_link' as const,
  uri: `${resultScheme}${handle}`,
  name: `result ${handle}`,
  mimeType: mediaType,
  size: bytes,
})

function waitingResult({ executionId, waitsFor, expiresAt, tool, warning }: Waiting, url?: string): CallToolResult {
  const approvalUrl = waitsFor === 'approval' && url !== undefined ? { approvalUrl: url } : {}
  const at = approvalUrl.approvalUrl === undefined ? '' : ` at ${approvalUrl.approvalUrl}`
  const state =
    waitsFor === 'approval'
      ? `${tool} has not run yet: the call waits for approval by a person${at} (execution ${executionId}).`
      : `${tool} is still running (execution ${executionId}). Do not call it again.`
  const next = `name "tooldex:read_execution", arguments {"id": "${executionId}"}`
  const text = `${state} Check its status with call_tool: ${next}.`
  return {
    content: [{ type: 'text', text }],
    structuredContent: {
      executionId,
      waitsFor,
      expiresAt,
      ...approvalUrl,
      ...(warning === undefined ? {} : { warning }),
    },
  }
}

export async function orToolError(work: () => Promise<CallResult>): Promise<CallResult> {
  try {
    return await work()
  } catch (thrown) {
    if (thrown instanceof ProtocolError) throw thrown
    return toToolError(toTooldexError(thrown))
  }
}

function toToolError(error: TooldexError): CallToolResult {
  if (error.code === 'INTERNAL') throw new ProtocolError(ProtocolErrorCode.InternalError, error.message)
  const text = `${error.message}\n${error.hint}`
  return { content: [{ type: 'text', text }], structuredContent: { error: toErrorBody(error) }, isError: true }
}

/** Accepts a single id instead of an array, under the names that models use. */
function readIds(args: Arguments): Arguments {
  if (args.ids !== undefined) return args
  const id = args.id ?? args.name ?? args.tool_name
  return id === undefined ? args : { ...args, ids: [id] }
}

interface KnownArguments {
  /** The arguments in the listed schema. */
  readonly listed: readonly string[]
  /** Further accepted arguments. */
  readonly accepted: readonly string[]
}

/** Rejects arguments that would be ignored, and suggests the nearest known name of each. */
function rejectUnknown(tool: string, names: readonly string[], { listed, accepted }: KnownArguments): void {
  const known = new Set([...listed, ...accepted])
  const unknown = names.filter((name) => !known.has(name))
  if (unknown.length === 0) return
  const budget = new WorkBudget(suggestionSteps)
  const problems = unknown.map((name) => {
    const nearest = didYouMean(name, known, budget)
    return { severity: 'error' as const, message: `unknown argument '${toOneLine(name.slice(0, 100))}'.${nearest}` }
  })
  const hint = `${tool} takes: ${listed.join(', ')}.`
  throw toProblemError({ code: 'INPUT_INVALID', what: 'The input', problems, maxInMessage: 10, hint })
}
