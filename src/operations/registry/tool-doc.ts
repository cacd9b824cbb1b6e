import * as z from 'zod'
import { TooldexError } from '../../base/errors.ts'
import { toolIdOf } from '../../catalog/index.ts'
import { DetailLevel } from '../../contract/tool-doc.ts'
import { describeTools, ToolDoc } from '../describe-tools.ts'
import { defineOperation, type OperationContext } from '../operation.ts'
import { IdOrName } from './inputs.ts'
import { toOfferedDoc } from './offered-doc.ts'
import { findRegistered } from './registry.ts'
import { toCatalogTool } from './registry-feed.ts'

/** Read about one tool. */
export const readDoc = defineOperation({
  name: 'tools.doc',
  summary: 'Read about one tool, offered or not; name@3 is the tool as it was in version 3.',
  scope: 'read',
  http: { method: 'get', path: '/tools/{idOrName}/doc', tag: 'search' },
  input: z.object({ idOrName: IdOrName, level: DetailLevel.default('schema') }),
  output: ToolDoc,
  async handle({ idOrName, level }, context) {
    const known = await orUndefined(() => docOfRegistered(context, idOrName, level))
    if (known !== undefined) return known
    const { tools } = await describeTools.handle({ ids: [idOrName], level }, context)
    return tools[0] as ToolDoc
  },
})

async function docOfRegistered(context: OperationContext, idOrName: string, level: DetailLevel): Promise<ToolDoc> {
  const tool = await findRegistered(context, idOrName)
  const { stores } = context.registry as NonNullable<OperationContext['registry']>
  const { categoryId } = tool
  const category = categoryId === null ? undefined : await stores.categories.get(context.caller.workspace, categoryId)
  const shown = toCatalogTool({ tool, category: category?.name ?? null })
  return toOfferedDoc(toolIdOf(shown), shown, level, tool)
}

/** What is not in the registry may still be a tool of a config. */
async function orUndefined(work: () => Promise<ToolDoc>): Promise<ToolDoc | undefined> {
  try {
    return await work()
  } catch (thrown) {
    if (thrown instanceof TooldexError && ['TOOL_NOT_FOUND', 'UNAVAILABLE'].includes(thrown.code)) return undefined
    throw thrown
  }
}
