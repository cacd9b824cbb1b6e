import type { RegisteredTool } from './registry.ts'

/** A tool as the catalog takes it. */
export interface OfferedTool {
  readonly tool: RegisteredTool
  readonly category: string | null
}

/** What is offered, and up to where it was seen. */
export interface OfferedTools {
  readonly tools: readonly OfferedTool[]
  /** To be given back at the next look. */
  readonly seen: string
}

/** What was made or changed since an earlier look; `active` tells whether any was deleted. */
export interface OfferedChanges {
  /** Whatever their status; undefined where it is less work to read all of them. */
  readonly tools: readonly OfferedTool[] | undefined
  /** How many are active in all. */
  readonly active: number
  readonly seen: string
}
