import { type CallToolResult, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import type * as z from 'zod'
import { type TooldexError, toErrorBody, toTooldexError } from '../../base/errors.ts'
import { callTool } from '../../operations/call-tool.ts'
import { describeTools } from '../../operations/describe-tools.ts'
import { invoke } from '../../operations/invoke.ts'
import type { Operation, OperationContext } from '../../operations/operation.ts'
import { approvalText, outcomeText, planText } from '../../operations/result-text.ts'
import { searchTools } from '../../operations/search-tools.ts'
import { describeText, searchText } from './answer-text.ts'
import type { MetaToolName } from './meta-tools.ts'
import { readCall } from './read-call.ts'
import { resultScheme } from './result-resources.ts'

type Given = Readonly<Record<string, unknown>>

const handlers: Record<MetaToolName, (given: Given, context: OperationContext) => Promise<CallToolResult>> = {
  search_tools: (given, context) => answer(searchTools, given, context, searchText),
  describe_tool: (given, context) => answer(describeTools, readIds(given), context, describeText),
  call_tool: (given, context) => answerCall(readCall(given), context),
}

/** Answers one of the three tools; what a caller got wrong comes back as a tool error that says how to mend it. */
export function handleMetaTool(name: MetaToolName, given: Given, context: OperationContext): Promise<CallToolResult> {
  return orToolError(() => handlers[name](given, context))
}

/** Answers a tool that is in the list itself. */
export function handleListedTool(name: string, given: Given, context: OperationContext): Promise<CallToolResult> {
  return orToolError(() => answerCall({ name, arguments: given }, context))
}

async function answer<Input extends z.ZodType, Output extends z.ZodType>(
  operation: Operation<Input, Output>,
  given: Given,
  context: OperationContext,
  toText: (output: z.output<Output>) => string,
): Promise<CallToolResult> {
  const output = await invoke(operation, given, context)
  return { content: [{ type: 'text', text: toText(output) }], structuredContent: output as Record<string, unknown> }
}

async function answerCall(call: Record<string, unknown>, context: OperationContext): Promise<CallToolResult> {
  const answered = await invoke(callTool, call, context)
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
  const { status, result, output, errorCode } = outcome
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
      ...(failed ? { status, errorCode } : {}),
      ...(executionId === undefined ? {} : { executionId }),
      ...(stored === undefined ? {} : { stored }),
      ...(warning === undefined ? {} : { warning }),
    },
    ...(failed ? { isError: true } : {}),
  }
}

type Answer = z.output<typeof callTool.output>
type Ended = Extract<Answer, { outcome: unknown }>
type Waiting = Extract<Answer, { waitsFor: unknown }>

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
