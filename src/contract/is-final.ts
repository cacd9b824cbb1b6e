import type { ExecutionStatus } from './execution.ts'

/** Whether a run in this status has ended; apart from the schemas, which a server for an MCP client starts without. */
export const isFinal = (status: ExecutionStatus): boolean => status !== 'PENDING' && status !== 'RUNNING'
