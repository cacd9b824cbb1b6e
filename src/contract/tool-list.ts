import type { ExecutorType } from './registry.ts'
import type { PageQuery } from './stores.ts'
import type { ToolStatus } from './tool-state.ts'

/** By what tools are listed; each is stable because the id decides between equals. */
export const toolSorts = ['name', '-name', 'updatedAt', '-updatedAt', 'createdAt', '-createdAt'] as const
export type ToolSort = (typeof toolSorts)[number]

/** Which tools are listed. */
export interface ToolListQuery extends PageQuery {
  /** Which page, the first being 1, where no cursor says where to go on. */
  readonly page?: number | undefined
  /** Whether all that fit are counted. */
  readonly total?: boolean | undefined
  readonly sort?: ToolSort | undefined
  readonly status?: readonly ToolStatus[] | undefined
  /** With all categories below it. */
  readonly categoryId?: string | undefined
  /** All of them. */
  readonly tags?: readonly string[] | undefined
  readonly executorType?: readonly ExecutorType[] | undefined
  /** Part of the name, the display name or the description, letter for letter but for case. */
  readonly search?: string | undefined
  /** No tool of another name. */
  readonly names?: ReadonlySet<string> | undefined
}
