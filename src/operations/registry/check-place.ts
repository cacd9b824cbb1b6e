import type { Problem } from '../../base/problem.ts'
import type { ToolContent } from '../../contract/registry.ts'
import type { OperationContext } from '../operation.ts'
import { registryOf } from './registry.ts'

/** What stands in the way of a new tool in the registry that it comes to. */
interface PlaceProblems {
  readonly category: readonly Problem[]
  readonly name: readonly Problem[]
}

/** Whether the category of a new tool is there, and its name is free. */
export async function checkPlace(context: OperationContext, { name, categoryId }: ToolContent): Promise<PlaceProblems> {
  const { stores } = registryOf(context)
  const { workspace } = context.caller
  const [category, tool] = await Promise.all([
    categoryId === null ? undefined : stores.categories.get(workspace, categoryId),
    stores.tools.get(workspace, name),
  ])
  const problem = (pointer: string, message: string, hint: string) =>
    [{ severity: 'error', pointer, message, hint }] as const
  const known = 'give the id of a category, or null for none; GET /categories lists them'
  return {
    category:
      categoryId === null || category !== undefined ? [] : problem('/categoryId', 'there is no such category', known),
    name:
      tool === undefined
        ? []
        : problem('/name', `a tool called ${name} exists already`, 'choose another name, or change that tool'),
  }
}
