import { fromPointer, type Problem, toPointer } from '../../base/problem.ts'
import type { ToolContent } from '../../contract/registry.ts'
import type { OperationContext } from '../operation.ts'
import { checkContent } from '../registry/registry.ts'

/** Fields that others depend on: if one is invalid, its dependents cannot be validated. */
const controllingKeys: Readonly<Record<string, readonly string[]>> = {
  executorType: ['executorConfig', 'scriptContent'],
  inputSchema: ['executorConfig', 'examples'],
  // A script that could not be read is not a missing one.
  scriptFile: ['scriptContent'],
}

/** The problems of the valid fields of a tool with some invalid ones. */
export async function checkRest(
  content: ToolContent,
  wrong: readonly string[],
  context: OperationContext<'registry'>,
): Promise<readonly Problem[]> {
  return dropDependentProblems(await checkContent(context, content), wrong)
}

/** Drops problems that follow from invalid fields, given by JSON pointers. */
export function dropDependentProblems(problems: readonly Problem[], wrong: readonly string[]): readonly Problem[] {
  const excluded = wrong.flatMap((pointer) => [pointer, ...dependentsOf(pointer)])
  return problems.filter(({ pointer = '' }) => !excluded.some((field) => `${pointer}/`.startsWith(`${field}/`)))
}

function dependentsOf(pointer: string): readonly string[] {
  const path = fromPointer(pointer)
  return (controllingKeys[path.at(-1) ?? ''] ?? []).map((field) => toPointer([...path.slice(0, -1), field]))
}
