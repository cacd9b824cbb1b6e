import * as z from 'zod'
import { mustExist, TooldexError } from '../../base/errors.ts'
import { Execution, ExecutionStatus, ExecutionSummary, executionSorts } from '../../contract/execution.ts'
import { WorkerState } from '../../contract/run.ts'
import type { Caller } from '../../contract/stores.ts'
import { defaultRunSettings } from '../../runs/settings.ts'
import { defineOperation, type OperationContext } from '../operation.ts'
import { IdOrName, pageOf, paging } from '../registry/inputs.ts'
import { findRegistered } from '../registry/registry.ts'
import { readableNames } from '../search/tool-view.ts'

const tag = 'executions'
const Id = z.string().min(1).max(100)

/** A run that the caller may read: of a visible tool, or their own call. */
export async function findExecution(
  context: OperationContext<'catalog' | 'registry'>,
  id: string,
): Promise<Execution | undefined> {
  const { caller } = context
  const found = await context.registry.stores.executions.get(caller.workspace, id)
  if (found === undefined || (found.callerId === caller.actor && isThroughToolset(found, caller))) return found
  const names = await readableNames(context)
  return names === undefined || names.has(found.toolName) ? found : undefined
}

/** Whether a run belongs to the toolsets of a request: its call came through one of them. */
const isThroughToolset = ({ toolsets }: Execution, caller: Caller): boolean =>
  caller.toolsets === undefined || toolsets?.some((name) => caller.toolsets?.includes(name)) === true

const mustFind = async (context: OperationContext<'catalog' | 'registry'>, id: string): Promise<Execution> =>
  mustExist(await findExecution(context, id), 'execution', id)

const filters = {
  ...paging,
  sort: z.enum(executionSorts).default('-createdAt').describe('Sort order.'),
  status: z.array(ExecutionStatus).optional().describe('Only runs in this state.'),
  caller: z.string().max(300).optional().describe('Only runs of this authenticated caller, such as key:ci.'),
  callerLabel: z.string().max(300).optional().describe('Only runs whose call had this label as its callerId.'),
  trace: z.string().max(200).optional().describe('Only runs of this trace.'),
  parent: z.string().max(100).optional().describe('Only calls of this program, by the id of its execution.'),
  purpose: z.enum(['call', 'replay']).optional().describe('Replays are listed separately from calls.'),
  since: z.iso
    .datetime()
    .optional()
    .describe('Only runs recorded at or after this time, such as 2026-01-31T12:00:00Z.'),
  until: z.iso.datetime().optional().describe('Only runs recorded before this time, such as 2026-01-31T12:00:00Z.'),
}

/** Lists recorded runs. */
export const listExecutions = defineOperation({
  name: 'executions.list',
  summary: 'List recorded runs, newest first.',
  scope: 'read',
  needs: ['catalog', 'registry'],
  http: { method: 'get', path: '/executions', tag },
  input: z.object({ ...filters, tool: z.string().max(200).optional().describe('Only runs of this tool.') }),
  output: pageOf(ExecutionSummary),
  async handle(query, context) {
    const names = await readableNames(context)
    return context.registry.stores.executions.list(context.caller.workspace, { ...query, ...(names && { names }) })
  },
})

/** Lists the runs of a tool. */
export const listExecutionsOfTool = defineOperation({
  name: 'registry.executions',
  summary: 'List the recorded runs of a registered tool, newest first.',
  scope: 'read',
  needs: ['catalog', 'registry'],
  http: { method: 'get', path: '/tools/{idOrName}/executions', tag },
  input: z.object({ ...filters, idOrName: IdOrName }),
  output: pageOf(ExecutionSummary),
  async handle({ idOrName, ...query }, context) {
    const { stores } = context.registry
    const tool = await findRegistered(context, idOrName)
    return stores.executions.list(context.caller.workspace, { ...query, toolId: tool.id })
  },
})

/** Reads one recorded run. */
export const getExecution = defineOperation({
  name: 'executions.get',
  summary: 'Read one recorded run: its input, output, logs and timing.',
  scope: 'read',
  needs: ['catalog', 'memory', 'registry'],
  http: { method: 'get', path: '/executions/{id}', tag },
  input: z.strictObject({ id: Id.describe('The id of the execution.') }),
  output: Execution,
  async handle({ id }, context) {
    const execution = await mustFind(context, id)
    context.memory.noteEnd(execution)
    return execution
  },
})

/** Cancels a run. */
export const cancelExecution = defineOperation({
  name: 'executions.cancel',
  summary: 'Cancel a waiting or running execution: your own, or any with the scope write.',
  scope: 'call',
  needs: ['catalog', 'registry', 'runs'],
  http: { method: 'post', path: '/executions/{id}/cancel', tag },
  input: z.strictObject({ id: Id }),
  output: Execution,
  async handle({ id }, context) {
    const { callerId } = await mustFind(context, id)
    if (callerId !== context.caller.actor && !context.scopes.has('write'))
      throw new TooldexError('FORBIDDEN', "Only its caller, or a key with the scope 'write', may cancel a run.")
    return context.runs.cancel(context.caller, id)
  },
})

/** Approves a call. */
export const approveExecution = defineOperation({
  name: 'executions.approve',
  summary: 'Approve a call that waits for approval; it runs as soon as a slot is free.',
  scope: 'write',
  needs: ['catalog', 'registry', 'runs?'],
  http: { method: 'post', path: '/executions/{id}/approve', tag },
  input: z.strictObject({
    id: Id,
    note: z.string().max(1000).optional().describe('Reason of the decision; stored in the audit log.'),
  }),
  output: Execution,
  handle: ({ id, note }, context) => decide(context, id, { approve: true, note }),
})

/** Refuses a call. */
export const refuseExecution = defineOperation({
  name: 'executions.refuse',
  summary: 'Refuse a call that waits for approval.',
  scope: 'write',
  needs: ['catalog', 'registry', 'runs?'],
  http: { method: 'post', path: '/executions/{id}/refuse', tag },
  input: z.strictObject({
    id: Id,
    note: z.string().max(1000).optional().describe('Reason of the decision; shown to the caller.'),
  }),
  output: Execution,
  handle: ({ id, note }, context) => decide(context, id, { approve: false, note }),
})

/** Callers cannot approve their own calls, except administrators, who could change the rule as well. */
async function decide(
  context: OperationContext<'catalog' | 'registry' | 'runs?'>,
  id: string,
  decision: { approve: boolean; note?: string | undefined },
) {
  const { callerId } = await mustFind(context, id)
  if (callerId === context.caller.actor && !context.scopes.has('admin'))
    throw new TooldexError('FORBIDDEN', 'The caller may not approve or refuse their own call.', {
      hint: 'Ask somebody with another key that has the scope write.',
    })
  const { queueMs } = context.runs?.settings ?? defaultRunSettings
  return context.registry.stores.executions.decide(context.caller, id, { ...decision, queueMs })
}

/** Returns the state of queue and workers. */
export const readQueue = defineOperation({
  name: 'queue.read',
  summary: 'Show the number of queued runs, the wait of the oldest, and the workers with their capabilities.',
  scope: 'read',
  needs: ['catalog', 'registry'],
  http: { method: 'get', path: '/queue', tag },
  input: z.object({}),
  output: z.object({
    queued: z.int(),
    waitingForApproval: z.int(),
    running: z.int(),
    oldestQueuedMs: z.number().nullable(),
    workers: z.array(WorkerState),
  }),
  async handle(_input, context) {
    const state = await context.registry.stores.executions.queue(context.caller.workspace)
    return { ...state, workers: [...state.workers] }
  },
})
