import type { Caller } from './stores.ts'

/** A query that led to a tool whose call succeeded. */
export interface LearnedQuery {
  readonly query: string
  readonly toolId: string
  /** How often. */
  readonly successes: number
  readonly learnedAt: string
}

/** What was learned after some moment, and how much there is in all: who has another number has missed that some was forgotten. */
export interface LearnedSince {
  readonly items: readonly LearnedQuery[]
  readonly total: number
}

/** What search learned from calls; each workspace from its own. */
export interface LearningStore {
  /** Notes a success. Where a workspace has too many, the longest unused are forgotten. */
  note(workspace: string, query: string, toolId: string): Promise<void>
  /** From a moment on, itself included, oldest first; all where none is given. */
  since(workspace: string, moment?: string): Promise<LearnedSince>
  /** Forgets everything, on record; how much that was. */
  forget(caller: Caller): Promise<number>
}
