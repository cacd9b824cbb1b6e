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
  const known = versions.get(toolId ?? '') ?? []
  return {
    id: String(row.id),
    toolId: name === undefined ? null : toolId,
    toolName: name ?? 'unknown',
    version: findVersion(known, row),
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

/** What was under way has nobody who could end it any more, and must not be run a second time. */
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
    errorMessage: `It was ${status} when the database was brought over, and nobody is left who could end it.`,
    completedAt:
      end.completedAt ?? legacyTime(row.updated_at) ?? legacyTime(row.started_at) ?? legacyTime(row.created_at),
  }
}

/** The status of an old run, which waited where nothing else was said. */
export const executionStatusOf = ({ status }: OldRow): string => String(status ?? 'PENDING')
