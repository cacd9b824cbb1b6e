import { maxDurationMs } from '../executions/took.ts'
import type { toolExecutions } from '../schema-runs.ts'
import { legacyText, legacyTime, legacyTimes, type NumberedVersion, type OldRow } from './rows.ts'
import { findVersion } from './versions.ts'

export function toExecutionRow(
  row: OldRow,
  names: ReadonlyMap<string, string>,
  versions: ReadonlyMap<string, readonly NumberedVersion[]>,
): typeof toolExecutions.$inferInsert {
  const toolId = legacyText(row.tool_id)
  const name = names.get(toolId ?? '')
  const numbered = versions.get(toolId ?? '') ?? []
  return {
    id: String(row.id),
    toolId: name === undefined ? null : toolId,
    toolName: name ?? 'unknown',
    version: findVersion(numbered, row),
    legacyVersion: legacyText(row.version),
    ...endOf(row),
    inputData: row.input_data ?? {},
    outputData: row.output_data ?? null,
    startedAt: legacyTime(row.started_at),
    callerId: legacyText(row.caller_id),
    traceId: legacyText(row.trace_id),
    ...legacyTimes(row),
  }
}

/** A run in progress has no process that could end it, and must not be repeated. */
function endOf(row: OldRow) {
  const status = executionStatusOf(row)
  const end = {
    status: status as 'FAILED',
    errorCode: null,
    errorMessage: legacyText(row.error_message),
    completedAt: legacyTime(row.completed_at),
    durationMs: row.duration_ms == null ? null : Math.min(Number(row.duration_ms), maxDurationMs),
  }
  if (status !== 'PENDING' && status !== 'RUNNING') return end
  return {
    ...end,
    status: 'FAILED' as const,
    errorCode: 'WORKER_LOST',
    errorMessage: `The run was ${status} when the database was migrated, and no process is left to end it.`,
    completedAt:
      end.completedAt ?? legacyTime(row.updated_at) ?? legacyTime(row.started_at) ?? legacyTime(row.created_at),
  }
}

/** The status of an old run; a missing one means PENDING. */
export const executionStatusOf = ({ status }: OldRow): string => String(status ?? 'PENDING')
