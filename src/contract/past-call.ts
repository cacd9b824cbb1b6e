/** A recorded call without its input and output. */
export interface PastCall {
  readonly id: string
  readonly toolId: string | null
  readonly toolName: string
  readonly version: number | null
  readonly callerId: string | null
  readonly callerGroups: readonly string[] | null
  readonly createdAt: string
}

/** The recorded calls to read. */
export interface PastCallQuery {
  readonly since: string
  readonly caller?: string | undefined
  readonly tool?: string | undefined
  readonly toolset?: string | undefined
}

/** Reads the recorded calls of a workspace. */
export interface PastCallStore {
  /** Newest first, in pages. */
  pastCalls(workspace: string, query: PastCallQuery): AsyncIterable<readonly PastCall[]>
  /** The inputs of recorded calls by id, as JSON texts. */
  inputs(workspace: string, ids: readonly string[]): Promise<ReadonlyMap<string, string>>
}
