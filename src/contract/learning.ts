import type { Caller } from './stores.ts'

/** A query that was followed by a successful call of a tool. */
export interface LearnedQuery {
  readonly query: string
  readonly toolId: string
  readonly successes: number
  readonly learnedAt: string
}

/** The entries since a moment and the total number of entries: a reader with another total has missed deletions. */
export interface LearnedSince {
  readonly items: readonly LearnedQuery[]
  readonly total: number
}

/** Learned queries, separate for each workspace. */
export interface LearningStore {
  /** Records a success. Above the limit of a workspace, the least recently used entries are deleted. */
  note(workspace: string, query: string, toolId: string): Promise<void>
  /** The entries from a moment on (inclusive), oldest first; all entries without a moment. */
  since(workspace: string, moment?: string): Promise<LearnedSince>
  /** Deletes all entries with an audit record; returns their number. */
  forget(caller: Caller): Promise<number>
}
