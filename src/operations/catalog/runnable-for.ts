import type { CatalogTool } from '../../contract/catalog.ts'
import type { RunnableTool } from '../../contract/executor.ts'

const ways = new WeakMap<CatalogTool, RunnableTool>()

/** Notes how a tool of the catalog would be run, without its script. */
export function setRunnable(tool: CatalogTool, runnable: RunnableTool): void {
  ways.set(tool, { ...runnable, scriptContent: null })
}

/** How a tool of the catalog would be run, where that is known. */
export const runnableFor = (tool: CatalogTool): RunnableTool | undefined => ways.get(tool)
