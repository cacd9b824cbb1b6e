import { setTimeout as sleep } from 'node:timers/promises'
import type { ElicitRequestFormParams, InputRequiredResult } from '@modelcontextprotocol/server'
import type { Execution } from '../../contract/execution.ts'
import type { RegistryClient } from '../../operations/registry-client/registry-client.ts'
import { approveExecution, getExecution, refuseExecution } from '../../operations/runs/executions.ts'
import { isFinal } from '../../rules/is-final.ts'
import type { Round } from './client-rounds.ts'

/** The parts of a server that decide who may approve, and where. */
export interface ApprovalOptions {
  /** Whether the caller may approve calls of their own. */
  mayApprove(): Promise<boolean>
  /** The page where a person with another key decides; undefined if there is none. */
  approvalUrl(executionId: string): string | undefined
}

interface WaitingCall {
  readonly executionId: string
  readonly tool: string
  readonly arguments: unknown
}

const key = 'approval'
const maxArguments = 2000

/**
 * Requests the decision from the user of the client, if the client can show the request. The key of the client answers, so a form
 * is sent only to a caller who may approve own calls; for others the client opens the page where another person decides.
 */
export async function requestApproval(
  call: WaitingCall,
  round: Round,
  options: ApprovalOptions,
): Promise<InputRequiredResult | undefined> {
  const { elicitation } = round.capabilities
  if (elicitation === undefined) return undefined
  const { executionId } = call
  const hasForm = elicitation.form !== undefined || elicitation.url === undefined
  const form = hasForm && (await options.mayApprove()) ? formOf(call) : undefined
  const params = form ?? (elicitation.url === undefined ? undefined : urlOf(call, options.approvalUrl(executionId)))
  if (params === undefined) return undefined
  const requestState = await round.keep({ executionId })
  const inputRequests = { [key]: { method: 'elicitation/create' as const, params } }
  return { resultType: 'input_required', inputRequests, requestState } as InputRequiredResult
}

const textOf = ({ tool, arguments: args }: WaitingCall): string => {
  const text = JSON.stringify(args ?? {})
  return `${tool} with ${text.length > maxArguments ? `${text.slice(0, maxArguments)}…` : text}`
}

const formOf = (call: WaitingCall): ElicitRequestFormParams => ({
  mode: 'form',
  message: `Approve this call? ${textOf(call)}`,
  requestedSchema: {
    type: 'object',
    properties: {
      decision: { type: 'string', title: 'Decision', enum: ['approve', 'refuse'] },
      note: { type: 'string', title: 'Reason', maxLength: 1000 },
    },
    required: ['decision'],
  },
})

const urlOf = (call: WaitingCall, url: string | undefined) =>
  url === undefined
    ? undefined
    : { mode: 'url', url, message: `This call waits for approval by a person with another key: ${textOf(call)}` }

interface Answer {
  readonly action?: unknown
  readonly content?: { readonly decision?: unknown; readonly note?: unknown } | undefined
}

/** Applies the decision of the user; without one, the call goes on waiting. */
export async function applyDecision(client: RegistryClient, round: Round, executionId: string): Promise<void> {
  const { action, content } = (round.responses?.[key] ?? {}) as Answer
  const note = typeof content?.note === 'string' ? { note: content.note.slice(0, 1000) } : {}
  if (action === 'accept' && content?.decision === 'approve')
    await client.invoke(approveExecution, { id: executionId, ...note })
  else if (action === 'decline' || (action === 'accept' && content?.decision === 'refuse'))
    await client.invoke(refuseExecution, { id: executionId, ...note })
}

const pollMs = 250

/** The execution when it has ended, or as it is after this time or while it waits for approval. */
export async function untilEnded(
  client: RegistryClient,
  id: string,
  withinMs: number,
  signal?: AbortSignal,
): Promise<Execution> {
  const until = performance.now() + withinMs
  for (;;) {
    const execution = await client.invoke(getExecution, { id }, { signal })
    if (isFinal(execution.status) || execution.reason === 'approval' || performance.now() > until) return execution
    await sleep(pollMs, undefined, { signal })
  }
}
