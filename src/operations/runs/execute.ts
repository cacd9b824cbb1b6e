import * as z from 'zod'
import { Execution } from '../../contract/execution.ts'
import { RunPlan } from '../../contract/run.ts'
import { isBuiltin } from '../../rules/builtin-names.ts'
import { isFinal } from '../../rules/is-final.ts'
import { invoke } from '../invoke.ts'
import { defineOperation, type OperationContext } from '../operation.ts'
import { IdOrName, VersionNumber } from '../registry/inputs.ts'
import { callBuiltin } from './builtins.ts'
import { executeCall } from './execute-call.ts'
import { ApprovalBy, approvalOf, resolveCall } from './resolve-call.ts'

const callFields = {
  callerId: z
    .string()
    .max(300)
    .optional()
    .describe(
      'A label for the caller, stored as callerLabel. The authenticated caller is the callerId of the execution.',
    ),
  traceId: z.string().max(200).optional().describe('The trace that the call belongs to.'),
  idempotencyKey: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe('Repeated calls with the same key run once. Over HTTP also: the header Idempotency-Key.'),
}

const warned = { warning: z.string().optional().describe('Notes for the caller of this tool.') }
const Begun = Execution.extend(warned)
const DryRun = z.object({
  dryRun: z.literal(true),
  toolName: z.string(),
  plan: RunPlan,
  needsApproval: z.boolean(),
  approvalBy: ApprovalBy,
  ...warned,
})

/** Executes a tool. */
export const executeTool = defineOperation({
  name: 'tools.execute',
  summary: 'Execute a tool: queue it, with wait until it has ended, or with dryRun only plan it.',
  scope: 'call',
  needs: ['catalog', 'memory', 'metrics?', 'registry?', 'runner', 'runs', 'sources?'],
  http: {
    method: 'post',
    path: '/tools/{idOrName}/execute',
    tag: 'executions',
    status: 202,
    isDone: (response) => (response as { dryRun?: boolean }).dryRun === true || isFinal((response as Execution).status),
  },
  input: z.strictObject({
    idOrName: IdOrName,
    input: z.record(z.string(), z.unknown()).default({}),
    version: VersionNumber.optional().describe('The version to run; the latest by default.'),
    wait: z.boolean().optional().describe('Respond when the run has ended.'),
    timeoutMs: z
      .int()
      .min(1)
      .max(86_400_000)
      .optional()
      .describe('At most the limit of the server, which is one hour by default.'),
    dryRun: z.boolean().optional().describe('Return the plan of the call without running it.'),
    ...callFields,
  }),
  output: z.union([Begun, DryRun]),
  async handle({ idOrName, input, version, wait = false, dryRun, timeoutMs, ...labels }, context) {
    const call = await resolveCall(context, idOrName, version)
    const { tool, warning } = call
    const about = warning === undefined ? {} : { warning }
    if (dryRun) {
      const plan = await context.runner.plan(tool, input, { timeoutMs, workspace: context.caller.workspace })
      return { dryRun: true as const, toolName: tool.name, plan, ...approvalOf(call), ...about }
    }
    const { signal, onOutput } = context
    const options = { wait, timeoutMs, signal, onOutput, ...recordLabels(context, labels) }
    return { ...(await executeCall(context, call, input, options)), ...about }
  },
})

/** Executes a tool call of a model. */
export const invokeForModel = defineOperation({
  name: 'llm.invoke',
  summary: 'Execute a tool call of a model, by tool name or provider alias.',
  scope: 'call',
  needs: ['catalog', 'memory', 'metrics?', 'registry?', 'runner', 'runs', 'sources?'],
  http: { method: 'post', path: '/llm/tools/{name}/invoke', tag: 'llm' },
  input: z.strictObject({
    name: z.string().min(1).max(300),
    arguments: z.record(z.string(), z.unknown()).default({}),
    ...callFields,
  }),
  output: z.object({
    success: z.boolean(),
    result: z.unknown(),
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
    executionId: z.string().nullable().describe('Null for built-in tools of Tooldex, which only read.'),
    durationMs: z.number().nullable(),
    /** The handle of a large result. */
    stored: Execution.shape.result,
    suspicious: Execution.shape.suspicious,
    warning: z.string().optional(),
  }),
  async handle({ name, arguments: input, ...labels }, context) {
    if (isBuiltin(name)) {
      const { outcome } = await callBuiltin(name, input, (operation, request) => invoke(operation, request, context))
      const { output: result, result: ran, suspicious } = outcome
      const about = { executionId: null, durationMs: ran.durationMs, stored: null }
      return { success: true, result, error: null, ...about, ...(suspicious === undefined ? {} : { suspicious }) }
    }
    const call = await resolveCall(context, name, undefined)
    const { warning } = call
    const options = { wait: true, signal: context.signal, ...recordLabels(context, labels) }
    const execution = await executeCall(context, call, input, options)
    const { status, outputData, durationMs, id, result, suspicious } = execution
    return {
      success: status === 'SUCCESS',
      result: outputData,
      error: errorOf(execution),
      executionId: id,
      durationMs,
      stored: result,
      ...(suspicious === undefined ? {} : { suspicious }),
      ...(warning === undefined ? {} : { warning }),
    }
  },
})

function errorOf({ status, reason, errorCode, errorMessage }: Execution) {
  if (status === 'SUCCESS') return null
  if (reason === 'approval')
    return { code: 'APPROVAL_NEEDED', message: 'The call waits for approval; read the execution later.' }
  return { code: errorCode ?? status, message: errorMessage ?? status }
}

/** The callerId of a request is only a label: the caller is identified by the key. */
function recordLabels(
  { trace }: OperationContext,
  labels: { callerId?: string | undefined; traceId?: string | undefined; idempotencyKey?: string | undefined },
) {
  return {
    ...trace,
    ...(labels.traceId === undefined ? {} : { traceId: labels.traceId }),
    callerLabel: labels.callerId,
    idempotencyKey: labels.idempotencyKey,
  }
}
