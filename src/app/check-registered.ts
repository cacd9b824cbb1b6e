import type { Problem } from '../base/problem.ts'
import type { ToolContent } from '../contract/registry.ts'

/** Everything that is wrong with a tool. */
export const checkRegistered = async (_content: ToolContent): Promise<readonly Problem[]> => []
