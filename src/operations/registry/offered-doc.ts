import { cutExample, cutText, readSchemaInfo, toSummary } from '../../catalog/index.ts'
import type { CatalogTool } from '../../contract/catalog.ts'
import type { RegisteredTool } from '../../contract/registry.ts'
import { type DetailLevel, docLimits } from '../../contract/tool-doc.ts'
import { toShown } from '../catalog/registry-feed.ts'
import type { OperationContext } from '../operation.ts'
import type { DescribedTool } from '../search/describe-tools.ts'

/** A registered tool in catalog form, with its runnable form. */
export async function showRegistered(
  { registry, caller }: OperationContext<'registry?'>,
  tool: RegisteredTool,
): Promise<CatalogTool> {
  const { categoryId } = tool
  const category = categoryId === null ? undefined : await registry?.stores.categories.get(caller.workspace, categoryId)
  return toShown({ tool, category: category?.name ?? null })
}

/** The description of a catalog tool, with the fields that the registry adds. */
export function toOfferedDoc(id: string, tool: CatalogTool, level: DetailLevel, more?: RegisteredTool): DescribedTool {
  const first = { id, ...summaryPart(tool), summary: cutText(tool.summary ?? tool.description, docLimits.summary) }
  if (level === 'summary') return first
  const second = { ...first, ...schemaPart(tool) }
  if (level === 'schema') return second
  const exampleRequests = tool.exampleRequests ?? []
  if (more === undefined) return { ...second, exampleRequests: [...exampleRequests] }
  const { notes, examples, externalRefs } = more
  return {
    ...second,
    exampleRequests: [...exampleRequests],
    examples: examples.map(cutExample),
    externalRefs,
    ...(notes === null ? {} : { notes: cutText(notes, docLimits.notes) }),
  }
}

/** The summary fields that a tool has. */
function summaryPart(tool: CatalogTool) {
  const { name, namespace, category = null, tags, inputModes, outputModes, securitySummary } = toSummary(tool)
  return {
    name,
    ...(namespace === undefined ? {} : { namespace }),
    category,
    tags,
    ...(inputModes.length === 0 ? {} : { inputModes }),
    ...(outputModes.length === 0 ? {} : { outputModes }),
    ...(securitySummary === undefined ? {} : { securitySummary }),
  }
}

function schemaPart(tool: CatalogTool): Partial<DescribedTool> {
  const { name, description, inputSchema, outputSchema, annotations } = tool
  const schemaInfo = readSchemaInfo(inputSchema)
  return {
    tool: { name, description, inputSchema, ...(outputSchema === undefined ? {} : { outputSchema }) },
    ...(annotations === undefined ? {} : { annotations }),
    ...(schemaInfo === undefined ? {} : { schemaInfo }),
  }
}
