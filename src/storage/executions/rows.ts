import type { Beginning, Execution, NewExecution } from '../../contract/execution.ts'
import type { StoredResult } from '../../contract/run.ts'
import { toIso } from '../rows.ts'
import type { executionResults, toolExecutions } from '../schema-runs.ts'

type ResultRow = Pick<typeof executionResults.$inferSelect, 'id' | 'bytes' | 'mediaType' | 'expiresAt'>

/** Converts a row to a run. */
export function toExecution(row: typeof toolExecutions.$inferSelect, result: ResultRow | null = null): Execution {
  return {
    id: row.id,
    toolId: row.toolId,
    toolName: row.toolName,
    version: row.version,
    status: row.status,
    reason: row.status === 'PENDING' ? (row.reason as Execution['reason']) : null,
    inputData: row.inputData,
    outputData: row.outputData,
    result: result === null ? null : toStored(result),
    errorMessage: row.errorMessage,
    errorCode: row.errorCode,
    exitCode: row.exitCode,
    logs: { stdout: row.stdout, stderr: row.stderr },
    truncated: row.truncated,
    ...(row.suspicious === null ? {} : { suspicious: row.suspicious }),
    isolation: row.isolation as Execution['isolation'],
    environment: row.environment,
    worker: row.worker,
    attempt: row.attempt,
    timeoutMs: row.timeoutMs,
    idempotencyKey: row.idempotencyKey,
    callerId: row.callerId,
    callerLabel: row.callerLabel,
    ...(row.toolsets === null ? {} : { toolsets: row.toolsets }),
    traceId: row.traceId,
    parentId: row.parentId,
    startedAt: toIso(row.startedAt),
    completedAt: toIso(row.completedAt),
    durationMs: row.durationMs,
    expiresAt: toIso(row.expiresAt),
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  }
}

export const toStored = ({ id, bytes, mediaType, expiresAt }: ResultRow): StoredResult => ({
  handle: id,
  bytes,
  mediaType,
  expiresAt: expiresAt.toISOString(),
})

/** Converts a draft that was just stored; the database adds only the time. */
export function toFreshExecution(draft: NewExecution, begin: Beginning, createdMs: number): Execution {
  const { bodyHash: _hash, maxAttempts: _max, definition: _definition, purpose: _purpose, ...more } = draft
  const { traceparent: _trace, callerGroups: _groups, toolsets, limits: _limits, ...fields } = more
  const at = new Date(createdMs).toISOString()
  const runs = begin.how === 'run'
  const waits = 'withinMs' in begin
  return {
    ...fields,
    ...(toolsets === undefined ? {} : { toolsets: [...toolsets] }),
    status: runs ? 'RUNNING' : 'PENDING',
    reason: runs ? null : begin.how === 'approval' ? 'approval' : 'queued',
    outputData: null,
    result: null,
    errorMessage: null,
    errorCode: null,
    exitCode: null,
    logs: { stdout: '', stderr: '' },
    truncated: false,
    isolation: null,
    environment: null,
    worker: waits ? null : begin.worker,
    attempt: runs ? 1 : 0,
    startedAt: runs ? at : null,
    completedAt: null,
    durationMs: null,
    expiresAt: waits ? new Date(createdMs + begin.withinMs).toISOString() : null,
    createdAt: at,
    updatedAt: at,
  }
}
