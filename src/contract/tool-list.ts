import type { ExecutorType } from './executor-kinds.ts'
import type { RegisteredTool } from './registry.ts'
import type { PageQuery } from './stores.ts'
import type { ToolStatus } from './tool-state.ts'

/** The sort orders of tools; stable because ties are broken by id. */
export const toolSorts = ['name', '-name', 'updatedAt', '-updatedAt', 'createdAt', '-createdAt'] as const
export type ToolSort = (typeof toolSorts)[number]

/** The filters of a list of tools. */
export interface ToolListQuery extends PageQuery {
  /** The page number, starting at 1; an alternative to a cursor. */
  readonly page?: number | undefined
  /** Whether to count all matches. */
  readonly total?: boolean | undefined
  readonly sort?: ToolSort | undefined
  readonly status?: readonly ToolStatus[] | undefined
  /** Includes subcategories. */
  readonly categoryId?: string | undefined
  /** Tools must have all of them. */
  readonly tags?: readonly string[] | undefined
  readonly executorType?: readonly ExecutorType[] | undefined
  /** A literal substring of the name, the display name or the description, ignoring case. */
  readonly search?: string | undefined
  /** Only tools with these names. */
  readonly names?: ReadonlySet<string> | undefined
}

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
