import { type CallToolResult, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import type * as z from 'zod'
import { type TooldexError, toErrorBody, toTooldexError } from '../../base/errors.ts'
import type { Operation } from '../../operations/operation.ts'
import type { CallControls, RecordedCall, RegistryClient } from '../../operations/registry-client/registry-client.ts'
import type { CallAnswer } from '../../operations/runs/call-tool.ts'
import { describeTools } from '../../operations/search/describe-tools.ts'
import { searchTools } from '../../operations/search/search-tools.ts'
import { approvalText, outcomeText, planText } from '../text/result-text.ts'
import { type MetaToolName, metaToolArguments } from './meta-tools.ts'
import { looseKeys, readCall } from './read-call.ts'
import { refuseUnknown } from './refuse-unknown.ts'
import { describeText, searchText } from './response-text.ts'
import { resultScheme } from './result-resources.ts'

type Given = Readonly<Record<string, unknown>>

/** One request of a client, and what answers it. */
export interface McpRequest extends Pick<CallControls, 'signal' | 'trace' | 'onProgress'> {
  readonly client: RegistryClient
}

const handlers: Record<MetaToolName, (given: Given, request: McpRequest) => Promise<CallToolResult>> = {
  search_tools: (given, request) => answer(searchTools, given, request, searchText),
  describe_tool: (given, request) => answer(describeTools, readIds(given), request, describeText),
  call_tool: (given, request) => answerCall(readCall(given), request),
}

/** Names that the three tools accept beside those that they list, as models write them. */
const alsoAccepted: Record<MetaToolName, readonly string[]> = {
  search_tools: Object.keys(searchTools.input.shape),
  describe_tool: ['id', 'name', 'tool_name'],
  call_tool: [],
}

/** Answers one of the three tools; a wrong input comes back as a tool error that says how to fix it. */
export function handleMetaTool(name: MetaToolName, given: Given, request: McpRequest): Promise<CallToolResult> {
  return orToolError(async () => {
    const names = name === 'call_tool' ? looseKeys(given) : Object.keys(given)
    refuseUnknown(name, names, { listed: metaToolArguments(name), accepted: alsoAccepted[name] })
    return handlers[name](given, request)
  })
}

/** Answers `climax_call`, which ignores arguments that it does not know. */
export const handleClimaxCall = (given: Given, request: McpRequest): Promise<CallToolResult> =>
  orToolError(() => handlers.call_tool(given, request))

/** Answers a tool that is in the list itself. */
export function handleListedTool(name: string, given: Given, request: McpRequest): Promise<CallToolResult> {
  return orToolError(() => answerCall({ name, arguments: given }, request))
}

async function answer<Input extends z.ZodType, Output extends z.ZodType>(
  operation: Operation<Input, Output>,
  given: Given,
  { client, signal, trace }: McpRequest,
  toText: (output: z.output<Output>) => string,
): Promise<CallToolResult> {
  const output = await client.invoke(operation, given, { signal, trace })
  return { content: [{ type: 'text', text: toText(output) }], structuredContent: output as Record<string, unknown> }
}

// Longer than any worker takes to notice a call, and shorter than clients wait for an answer.
const patienceMs = 5000

async function answerCall(call: Given, { client, ...request }: McpRequest): Promise<CallToolResult> {
  const controls = { ...request, waitForApproval: false, patienceMs, onOutput: () => {}, onStatus: () => {} }
  // Parsed by the client, which refuses what is not a call.
  const answered = await client.call(call as unknown as RecordedCall, controls)
  if ('plan' in answered) {
    const { plan, needsApproval, approvalBy, warning } = answered
    const text = `${planText(plan)}${approvalText(approvalBy)}${warning === undefined ? '' : `\n(${warning})`}`
    const said = warning === undefined ? {} : { warning }
    return { content: [{ type: 'text', text }], structuredContent: { plan, needsApproval, approvalBy, ...said } }
  }
  if (!('outcome' in answered)) return waitingResult(answered)
  return endedResult(answered)
}

function endedResult({ outcome, executionId, stored, warning }: Ended): CallToolResult {
  const { status, result, output, errorCode, errorMessage } = outcome
  const failed = status !== 'SUCCESS'
  const text = [
    outcomeText(outcome),
    ...(stored === undefined ? [] : [storedText(stored)]),
    ...(warning === undefined ? [] : [`(${warning})`]),
  ]
  return {
    content: [{ type: 'text', text: text.join('\n\n') }, ...(stored === undefined ? [] : [linkTo(stored)])],
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

function waitingResult({ executionId, waitsFor, expiresAt, tool, warning }: Waiting): CallToolResult {
  const text = `${tool} was not run yet: the call waits for a person to approve it (execution ${executionId}). See how it stands with call_tool: name "tooldex:read_execution", arguments {"id": "${executionId}"}.`
  return {
    content: [{ type: 'text', text }],
    structuredContent: { executionId, waitsFor, expiresAt, ...(warning === undefined ? {} : { warning }) },
  }
}

export async function orToolError(work: () => Promise<CallToolResult>): Promise<CallToolResult> {
  try {
    return await work()
  } catch (thrown) {
    return toToolError(toTooldexError(thrown))
  }
}

function toToolError(error: TooldexError): CallToolResult {
  if (error.code === 'INTERNAL') throw new ProtocolError(ProtocolErrorCode.InternalError, error.message)
  const text = `${error.message}\n${error.hint}`
  return { content: [{ type: 'text', text }], structuredContent: { error: toErrorBody(error) }, isError: true }
}

/** One id where a list is asked for, under one of the names models give it. */
function readIds(given: Given): Given {
  if (given.ids !== undefined) return given
  const id = given.id ?? given.name ?? given.tool_name
  return id === undefined ? given : { ...given, ids: [id] }
}
