import { cutText, readSchemaInfo } from '../../catalog/index.ts'
import type { CatalogTool } from '../../contract/catalog.ts'
import type { RegisteredTool } from '../../contract/registry.ts'
import { type DetailLevel, docLimits } from '../../contract/tool-doc.ts'
import type { ToolDoc } from '../describe-tools.ts'
import type { OperationContext } from '../operation.ts'
import { toShown } from './registry-feed.ts'

/** A registered tool as the catalogue would show it, with how it would be run. */
export async function showRegistered(
  { registry, caller }: OperationContext,
  tool: RegisteredTool,
): Promise<CatalogTool> {
  const { categoryId } = tool
  const category = categoryId === null ? undefined : await registry?.stores.categories.get(caller.workspace, categoryId)
  return toShown({ tool, category: category?.name ?? null })
}

/** A tool of the catalogue as one reads about it, with what the registry adds. */
export function toOfferedDoc(id: string, tool: CatalogTool, level: DetailLevel, more?: RegisteredTool): ToolDoc {
  const { name, description, category = null, tags } = tool
  const summary = cutText(tool.summary ?? description, docLimits.summary)
  const first = { id, name, summary, category, tags: [...tags] }
  if (level === 'summary') return first
  const second = { ...first, ...schemaPart(tool) }
  if (level === 'schema') return second
  const exampleRequests = tool.exampleRequests ?? []
  if (more === undefined) return { ...second, exampleRequests: [...exampleRequests] }
  const { notes, examples, externalRefs } = more
  return {
    ...second,
    exampleRequests: [...exampleRequests],
    examples,
    externalRefs,
    ...(notes === null ? {} : { notes: cutText(notes, docLimits.notes) }),
  }
}

function schemaPart(tool: CatalogTool): Partial<ToolDoc> {
  const { name, description, inputSchema, outputSchema, annotations, inputModes, outputModes, securitySummary } = tool
  const schemaInfo = readSchemaInfo(inputSchema)
  return {
    tool: { name, description, inputSchema, ...(outputSchema === undefined ? {} : { outputSchema }) },
    ...(annotations === undefined ? {} : { annotations }),
    ...(inputModes === undefined ? {} : { inputModes: [...inputModes] }),
    ...(outputModes === undefined ? {} : { outputModes: [...outputModes] }),
    ...(securitySummary === undefined ? {} : { securitySummary }),
    ...(schemaInfo === undefined ? {} : { schemaInfo }),
  }
}
