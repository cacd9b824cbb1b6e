import { yieldTurns } from '../../base/yield-turns.ts'
import type { Bundle, BundleTool, StoredPolicy } from '../../contract/bundle.ts'
import type { RegisteredTool, ToolContent } from '../../contract/registry.ts'
import type { Stores } from '../../contract/stores.ts'
import { contentFields } from './registry.ts'

/** The contents of a workspace as a bundle, with its policies in effect. */
export async function readCurrentBundle(
  stores: Stores,
  workspace: string,
): Promise<Bundle & { readonly policies: StoredPolicy[] }> {
  const categories = await stores.categories.all(workspace)
  const names = new Map(categories.map(({ id, name }) => [id, name]))
  const tools: BundleTool[] = []
  const turn = yieldTurns()
  let cursor: string | undefined
  do {
    const page = await stores.tools.list(workspace, { limit: 100, sort: 'name', cursor })
    for (const tool of page.items) {
      tools.push(toBundleTool(tool, names))
      await turn()
    }
    cursor = page.nextCursor
  } while (cursor !== undefined)
  return {
    tooldex: 1,
    categories: categories.map(({ name, description, parentId }) => ({
      name,
      description,
      parent: parentId === null ? null : (names.get(parentId) ?? null),
    })),
    tools,
    policies: [...(await stores.policies.list(workspace))],
    toolsets: [...(await stores.toolsets.list(workspace))],
    limits: [...(await stores.limits.list(workspace))],
    sources: (await stores.sources.list(workspace)).map(({ name, trust, server }) => ({ name, trust, server })),
  }
}

function toBundleTool(tool: RegisteredTool, names: ReadonlyMap<string, string>): BundleTool {
  const { categoryId, ...content } = contentFields(tool)
  return {
    ...content,
    category: categoryId === null ? null : (names.get(categoryId) ?? null),
    status: tool.status,
    changelog: null,
  }
}

/** A tool of a bundle in the form that versions store. */
export function bundleToolContent(
  { category: _category, status: _status, changelog: _changelog, ...tool }: BundleTool,
  categoryId: string | null,
): ToolContent {
  return { ...tool, categoryId }
}
