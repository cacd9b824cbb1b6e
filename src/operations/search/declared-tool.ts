import type { Catalog } from '../../catalog/index.ts'
import type { RunnableTool } from '../../contract/executor.ts'
import { declareInTypeScript } from '../../definitions/index.ts'
import { toFullId } from '../../rules/tool-id.ts'
import type { FoundTool } from '../catalog/find-tool.ts'
import type { DescribedTool } from './describe-tools.ts'

/** A description with the TypeScript declaration of the tool instead of its schemas; the declared name is unique in the catalog. */
export function toDeclaredTool(doc: DescribedTool, found?: FoundTool, tools?: Catalog): DescribedTool {
  const { tool, schemaInfo: _info, ...rest } = doc
  if (tool === undefined) return doc
  const fullId = found !== undefined && tools?.sharesName(found.tool) === true ? toFullId(found.tool) : undefined
  const typescript = declareInTypeScript({
    ...tool,
    name: fullId ?? tool.name,
    returnsText: printsText(found?.runnable),
  })
  return { ...rest, typescript }
}

/** Whether the output of a tool without an output schema is the text that its command prints. */
const printsText = (runnable: RunnableTool | undefined): boolean =>
  runnable?.executorType === 'cli' || runnable?.executorType === 'shell'
