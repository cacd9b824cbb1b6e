import * as z from 'zod'
import { TooldexError } from '../../base/errors.ts'
import { Execution, ExecutionStatus, ExecutionSummary } from '../../contract/execution.ts'
import type { RecordedRuns } from '../../runs/recorded-runs.ts'
import { defineOperation, type OperationContext } from '../operation.ts'
import { IdOrName, pageOf, paging } from '../registry/inputs.ts'
import { registryOf } from '../registry/registry.ts'

const tag = 'executions'
const Id = z.string().min(1).max(100)

/** Recorded runs, for an operation that cannot do without. */
export function runsOf({ runs }: OperationContext): RecordedRuns {
  if (runs !== undefined) return runs
  throw new TooldexError('UNAVAILABLE', 'Nothing is recorded here: there is no database.', {
    hint: 'Start a server with: tooldex serve',
  })
}

const filters = {
  ...paging,
  status: z.array(ExecutionStatus).optional(),
  caller: z.string().max(300).optional().describe('Who called, such as key:ci.'),
  trace: z.string().max(200).optional(),
  since: z.iso.datetime().optional().describe('Only runs recorded at this time or later.'),
  until: z.iso.datetime().optional().describe('Only runs recorded before this time.'),
}

/** List recorded runs. */
export const listExecutions = defineOperation({
  name: 'executions.list',
  summary: 'List recorded runs, newest first.',
  scope: 'read',
  http: { method: 'get', path: '/executions', tag },
  input: z.object({ ...filters, tool: z.string().max(200).optional().describe('The name of a tool.') }),
  output: pageOf(ExecutionSummary),
  async handle(query, context) {
    const page = await registryOf(context).stores.executions.list(context.caller.workspace, query)
    return { ...page, items: [...page.items] }
  },
})

/** List the runs of a tool. */
export const listExecutionsOfTool = defineOperation({
  name: 'registry.executions',
  summary: 'List the recorded runs of a registered tool, newest first.',
  scope: 'read',
  http: { method: 'get', path: '/tools/{idOrName}/executions', tag },
  input: z.object({ ...filters, idOrName: IdOrName }),
  output: pageOf(ExecutionSummary),
  async handle({ idOrName, ...query }, context) {
    const { stores } = registryOf(context)
    const tool = await stores.tools.get(context.caller.workspace, idOrName)
    if (tool === undefined) throw new TooldexError('TOOL_NOT_FOUND', `Unknown tool: ${idOrName}.`)
    const page = await stores.executions.list(context.caller.workspace, { ...query, toolId: tool.id })
    return { ...page, items: [...page.items] }
  },
})

/** Read one recorded run. */
export const getExecution = defineOperation({
  name: 'executions.get',
  summary: 'Read one recorded run: its input, output, logs and timing.',
  scope: 'read',
  http: { method: 'get', path: '/executions/{id}', tag },
  input: z.object({ id: Id.describe('The id of the execution.') }),
  output: Execution,
  async handle({ id }, context) {
    const found = await registryOf(context).stores.executions.get(context.caller.workspace, id)
    if (found !== undefined) return found
    throw new TooldexError('NOT_FOUND', `Unknown execution: ${id}.`)
  },
})

/** Cancel a run. */
export const cancelExecution = defineOperation({
  name: 'executions.cancel',
  summary: 'Cancel a run that waits or runs.',
  scope: 'call',
  http: { method: 'post', path: '/executions/{id}/cancel', tag },
  input: z.object({ id: Id }),
  output: Execution,
  handle: ({ id }, context) => runsOf(context).cancel(context.caller, id),
})

/** Say yes to a call. */
export const approveExecution = defineOperation({
  name: 'executions.approve',
  summary: "Approve a call that waits for a person's yes; it runs as soon as there is room.",
  scope: 'write',
  http: { method: 'post', path: '/executions/{id}/approve', tag },
  input: z.object({ id: Id }),
  output: Execution,
  handle: ({ id }, context) => registryOf(context).stores.executions.decide(context.caller, id, { approve: true }),
})

/** Say no to a call. */
export const refuseExecution = defineOperation({
  name: 'executions.refuse',
  summary: "Refuse a call that waits for a person's yes.",
  scope: 'write',
  http: { method: 'post', path: '/executions/{id}/refuse', tag },
  input: z.object({ id: Id, note: z.string().max(1000).optional().describe('Why; the caller reads it.') }),
  output: Execution,
  handle: ({ id, note }, context) =>
    registryOf(context).stores.executions.decide(context.caller, id, { approve: false, note }),
})

/** See what waits and what runs. */
export const readQueue = defineOperation({
  name: 'queue.read',
  summary: 'See how many runs wait, how long the oldest has waited, and who runs what.',
  scope: 'read',
  http: { method: 'get', path: '/queue', tag },
  input: z.object({}),
  output: z.object({
    queued: z.int(),
    waitingForApproval: z.int(),
    running: z.int(),
    oldestQueuedMs: z.number().nullable(),
    workers: z.array(z.object({ worker: z.string(), running: z.int() })),
  }),
  async handle(_input, context) {
    const state = await registryOf(context).stores.executions.queue(context.caller.workspace)
    return { ...state, workers: [...state.workers] }
  },
})
