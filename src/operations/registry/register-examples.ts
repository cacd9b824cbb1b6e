import { TooldexError } from '../../base/errors.ts'
import { exampleToolsDir } from '../../base/package-info.ts'
import { readBundleFolder } from '../../sources/bundle/index.ts'
import { invoke } from '../invoke.ts'
import type { ServerContext } from '../operation.ts'
import { importBundle } from './bundles.ts'

/** Registers the example tools if the registry is empty; returns whether it did. */
export async function registerExamples(context: ServerContext): Promise<boolean> {
  if (await hasTools(context)) return false
  const { bundle } = await readBundleFolder(exampleToolsDir)
  try {
    await invoke(importBundle, { bundle }, context)
    return true
  } catch (thrown) {
    // A process that started at the same time has registered them; imports are atomic.
    if (thrown instanceof TooldexError && (await hasTools(context))) return false
    throw thrown
  }
}

async function hasTools(context: ServerContext): Promise<boolean> {
  const { items } = await context.registry.stores.tools.list(context.caller.workspace, { limit: 1 })
  return items.length > 0
}
