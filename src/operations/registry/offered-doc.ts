import { cutExample, cutText, readSchemaInfo, type SyncedTool, toSummary } from '../../catalog/index.ts'
import type { CatalogTool } from '../../contract/catalog.ts'
import type { RegisteredTool } from '../../contract/registry.ts'
import { type DetailLevel, docLimits } from '../../contract/tool-doc.ts'
import type { ResolvedTool } from '../../contract/tool-index.ts'
import type { FoundTool } from '../catalog/find-tool.ts'
import { toShown } from '../catalog/registry-feed.ts'
import type { OperationContext } from '../operation.ts'
import type { DescribedTool } from '../search/describe-tools.ts'

/** A registered tool in catalog form, with its runnable form. */
export async function findToolForm(
  { registry, caller }: OperationContext<'registry?'>,
  tool: RegisteredTool,
): Promise<SyncedTool> {
  const { categoryId } = tool
  const category = categoryId === null ? undefined : await registry?.stores.categories.get(caller.workspace, categoryId)
  return toShown({ tool, category: category?.name ?? null })
}

/** The description of a tool of any source. */
export function toDescribed({ id, tool, runnable, registered }: FoundTool, level: DetailLevel): DescribedTool {
  const first = { id, ...summaryPart(tool), summary: cutText(tool.summary ?? tool.description, docLimits.summary) }
  if (level === 'summary') return first
  const second = { ...first, ...schemaPart(tool) }
  if (level === 'schema') return second
  const full = { ...second, exampleRequests: [...(tool.exampleRequests ?? [])] }
  if (runnable?.resolved !== undefined) return { ...full, notes: commandNote(runnable.resolved) }
  if (registered === undefined) return full
  const { notes, examples, externalRefs } = registered
  return {
    ...full,
    examples: examples.map(cutExample),
    externalRefs,
    ...(notes === null ? {} : { notes: cutText(notes, docLimits.notes) }),
  }
}

const commandNote = ({ baseCommand, tool: { command, timeout } }: ResolvedTool): string =>
  `Runs \`${`${baseCommand} ${command}`.trim()}\`, for at most ${timeout || 30} seconds.`

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
