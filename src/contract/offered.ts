import type { RegisteredTool } from './registry.ts'

/** An active tool with the name of its category. */
export interface OfferedTool {
  readonly tool: RegisteredTool
  readonly category: string | null
}

/** The offered tools, and the position in the change feed that they reflect. */
export interface OfferedTools {
  readonly tools: readonly OfferedTool[]
  /** To be passed to the next `offeredSince`. */
  readonly seen: string
}

/** Tools that were created or changed since an earlier read; `active` reveals deletions. */
export interface OfferedChanges {
  /** In any status; undefined where a complete read is cheaper. */
  readonly tools: readonly OfferedTool[] | undefined
  /** The total number of active tools. */
  readonly active: number
  readonly seen: string
}
