import * as z from 'zod'

/** The runs that began within a span of time, and how long they took. */
export const RunCounts = z.object({
  runs: z.int(),
  failed: z.int().describe('Runs that ended as FAILED or TIMEOUT.'),
  p50Ms: z.number().nullable().describe('The median duration of the ended runs; null without any.'),
  p95Ms: z.number().nullable(),
})
export type RunCounts = z.infer<typeof RunCounts>

/** The statistics of runs in equal spans of time; spans without runs are omitted. */
export interface RunStatistics {
  readonly total: RunCounts
  readonly spans: readonly (RunCounts & { readonly from: string })[]
}

/** Selects the runs to count. */
export interface RunStatisticsQuery {
  readonly since: Date
  readonly spanMs: number
  /** At most this many runs are counted, newest first. */
  readonly maxRuns: number
  readonly tool?: string | undefined
  readonly names?: ReadonlySet<string> | undefined
}

/** The numbers of the contents of a workspace. */
export interface RegistryCounts {
  /** Tools by status and by executor; zeros may be absent. */
  readonly status: Readonly<Record<string, number>>
  readonly executorType: Readonly<Record<string, number>>
  readonly versions: number
  readonly categories: number
  readonly tags: number
  readonly policies: number
  readonly openProposals: number
  /** Without revoked ones. */
  readonly keys: number
}

export interface StatsStore {
  /** Where names are passed, only tools with these names, and their contents, are counted. */
  count(workspace: string, names?: ReadonlySet<string>): Promise<RegistryCounts>
  /** Calls by span of time; replays are not counted. */
  runs(workspace: string, query: RunStatisticsQuery): Promise<RunStatistics>
  /** The size of the whole database, of all workspaces. */
  size(): Promise<{ readonly engine: 'pglite' | 'postgres'; readonly bytes: number }>
}

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
