import type { Problem } from '../../base/problem.ts'
import type { ToolContent } from '../../contract/registry.ts'
import type { OperationContext } from '../operation.ts'

/** Conflicts of a new tool with the registry. */
interface PlaceProblems {
  readonly category: readonly Problem[]
  readonly name: readonly Problem[]
}

/** Checks that the category of a new tool exists and its name is free. */
export async function checkCategory(
  context: OperationContext<'registry'>,
  { name, categoryId }: ToolContent,
): Promise<PlaceProblems> {
  const { stores } = context.registry
  const { workspace } = context.caller
  const [category, tool] = await Promise.all([
    categoryId === null ? undefined : stores.categories.get(workspace, categoryId),
    stores.tools.get(workspace, name),
  ])
  const isLost = categoryId !== null && category === undefined
  const taken = `a tool named ${name} already exists`
  const hint = 'choose another name, or change that tool'
  return {
    // The default hint of a category applies.
    category: isLost ? [{ severity: 'error', pointer: '/categoryId', message: 'there is no such category' }] : [],
    name: tool === undefined ? [] : [{ severity: 'error', pointer: '/name', message: taken, hint }],
  }
}
