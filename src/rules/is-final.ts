import type { ExecutionStatus } from '../contract/execution.ts'

/** Whether a run in this status has ended; in its own file because a stdio MCP server starts without loading the schemas. */
export const isFinal = (status: ExecutionStatus): boolean => status !== 'PENDING' && status !== 'RUNNING'
