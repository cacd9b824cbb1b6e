import type { Problem } from '../../base/problem.ts'
import type { ToolContent } from '../../contract/registry.ts'
import type { OperationContext } from '../operation.ts'

/** Fields by which others are judged: where one is wrong, nothing can be said of those. */
const decisive: Readonly<Record<string, readonly string[]>> = {
  '/executorType': ['/executorConfig', '/scriptContent'],
  '/inputSchema': ['/executorConfig', '/examples'],
}

/** What is wrong with the fields of a tool whose shape is right, where others have not even that. */
export async function checkRest(
  content: ToolContent,
  wrong: readonly string[],
  { registry, signal }: OperationContext,
): Promise<readonly Problem[]> {
  if (registry === undefined) return []
  const spoilt = wrong.flatMap((field) => [field, ...(decisive[field] ?? [])])
  const problems = await registry.check(content, signal)
  return problems.filter(({ pointer = '' }) => !spoilt.some((field) => `${pointer}/`.startsWith(`${field}/`)))
}
