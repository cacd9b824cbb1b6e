import type { CatalogTool } from '../../contract/catalog.ts'
import type { RunnableTool } from '../../contract/executor.ts'

const ways = new WeakMap<CatalogTool, RunnableTool>()

/** Stores the runnable form of a catalog tool, without its script. */
export function setRunnable(tool: CatalogTool, runnable: RunnableTool): void {
  ways.set(tool, { ...runnable, scriptContent: null })
}

/** The runnable form of a catalog tool, if it was stored. */
export const runnableFor = (tool: CatalogTool): RunnableTool | undefined => ways.get(tool)
