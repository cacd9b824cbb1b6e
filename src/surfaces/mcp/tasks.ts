import {
  type CallToolResult,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server'
import * as z from 'zod'
import { toTooldexError } from '../../base/errors.ts'
import { lazyModule } from '../../base/lazy-module.ts'
import type { Execution } from '../../contract/execution.ts'
import { isFinal } from '../../rules/is-final.ts'
import { capabilitiesOf } from './client-rounds.ts'
import type { McpTools } from './mcp-tools.ts'

const loadExecutions = lazyModule(() => import('../../operations/runs/executions.ts'))
const loadAnswer = lazyModule(() => import('../../operations/runs/execution-result.ts'))
const loadHandleCall = lazyModule(() => import('./handle-call.ts'))

/** The extension under which a call continues as a task. */
export const tasksExtension = 'io.modelcontextprotocol/tasks'

const pollIntervalMs = 1000
const Params = z.looseObject({ taskId: z.string().min(1).max(100) })

/** A task is an execution: its id, its state and, when it has ended, its result. */
export function toTask(execution: Execution, approvalUrl?: string): Record<string, unknown> {
  const { id, createdAt, updatedAt, reason, status } = execution
  const waits = `The call waits for approval by a person${approvalUrl === undefined ? '' : `: ${approvalUrl}`}.`
  return {
    taskId: id,
    status: !isFinal(status) ? 'working' : status === 'CANCELLED' ? 'cancelled' : 'completed',
    createdAt,
    lastUpdatedAt: updatedAt,
    // The retention of executions decides, which depends on their number, too.
    ttlMs: null,
    pollIntervalMs,
    ...(reason === 'approval' ? { statusMessage: waits } : {}),
    ...(status === 'CANCELLED' ? { statusMessage: execution.errorMessage ?? 'The call was cancelled.' } : {}),
  }
}

/** Serves `tasks/get`, `tasks/update` and `tasks/cancel` to the caller of an execution. */
export function serveTasks(server: Server, tools: McpTools): void {
  const { client } = tools
  const find = async (id: string, request: ServerContext): Promise<Execution> => {
    requireTasks(server, request)
    const { getExecution } = await loadExecutions()
    const { signal } = request.mcpReq
    const execution = await client.invoke(getExecution, { id }, { signal }).catch(unknownTask)
    const { caller } = tools.exchange
    // Others may read an execution, but a task belongs to its caller.
    if (tools.isShared && execution.callerId !== caller.actor) throw unknownTask()
    return execution
  }
  server.setRequestHandler('tasks/get', { params: Params }, async ({ taskId }, request) => {
    const execution = await find(taskId, request)
    const task = toTask(execution, tools.approvalUrl(taskId))
    return task.status === 'completed' ? { ...task, result: await resultOf(execution) } : task
  })
  // A call never waits for input after it became a task, so responses refer to no request and are ignored.
  server.setRequestHandler('tasks/update', { params: Params }, async ({ taskId }, request) => {
    await find(taskId, request)
    return {}
  })
  server.setRequestHandler('tasks/cancel', { params: Params }, async ({ taskId }, request) => {
    const { status } = await find(taskId, request)
    const { cancelExecution } = await loadExecutions()
    // An execution may end meanwhile.
    if (!isFinal(status)) await client.invoke(cancelExecution, { id: taskId }).catch(() => {})
    return {}
  })
}

async function resultOf(execution: Execution): Promise<CallToolResult> {
  const [{ answerOfExecution }, { toEndedCallResult }] = [await loadAnswer(), await loadHandleCall()]
  const answer = answerOfExecution(execution)
  if (!('outcome' in answer)) throw new ProtocolError(ProtocolErrorCode.InternalError, 'The execution has not ended.')
  return toEndedCallResult({ tool: execution.toolName, ...answer })
}

function requireTasks(server: Server, request: ServerContext): void {
  const { extensions } = capabilitiesOf(server, request)
  if (extensions?.[tasksExtension] !== undefined) return
  throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { extensions: { [tasksExtension]: {} } } })
}

function unknownTask(thrown?: unknown): never {
  const error = thrown === undefined ? undefined : toTooldexError(thrown)
  if (error !== undefined && error.code !== 'NOT_FOUND' && error.code !== 'INPUT_INVALID')
    throw new ProtocolError(ProtocolErrorCode.InternalError, error.message)
  throw new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    'Unknown task. It may have expired, or belong to another caller.',
  )
}
