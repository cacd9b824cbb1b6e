import { fromPointer, type Problem, toPointer } from '../../base/problem.ts'
import type { ToolContent } from '../../contract/registry.ts'
import type { OperationContext } from '../operation.ts'
import { checkContent } from '../registry/registry.ts'

/** Fields by which others are judged: where one is wrong, nothing can be said of those. */
const controllingKeys: Readonly<Record<string, readonly string[]>> = {
  executorType: ['executorConfig', 'scriptContent'],
  inputSchema: ['executorConfig', 'examples'],
  // A script that could not be read is not one that is missing.
  scriptFile: ['scriptContent'],
}

/** What is wrong with the fields of a tool whose shape is right, where others have not even that. */
export async function checkRest(
  content: ToolContent,
  wrong: readonly string[],
  context: OperationContext,
): Promise<readonly Problem[]> {
  return context.registry === undefined ? [] : dropDependentProblems(await checkContent(context, content), wrong)
}

/** The problems that do not follow from what is wrong already, given by JSON pointers. */
export function dropDependentProblems(problems: readonly Problem[], wrong: readonly string[]): readonly Problem[] {
  const spoilt = wrong.flatMap((pointer) => [pointer, ...judgedBy(pointer)])
  return problems.filter(({ pointer = '' }) => !spoilt.some((field) => `${pointer}/`.startsWith(`${field}/`)))
}

function judgedBy(pointer: string): readonly string[] {
  const path = fromPointer(pointer)
  return (controllingKeys[path.at(-1) ?? ''] ?? []).map((field) => toPointer([...path.slice(0, -1), field]))
}
