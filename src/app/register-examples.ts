import { exampleToolsDir } from '../base/package-info.ts'
import { invoke } from '../operations/invoke.ts'
import type { OperationContext } from '../operations/operation.ts'
import { importBundle } from '../operations/registry/bundles.ts'
import { registryOf } from '../operations/registry/registry.ts'
import { readBundleFolder } from '../sources/bundle/index.ts'

/** Registers the example tools where there are no others; says whether it did. */
export async function registerExamples(context: OperationContext): Promise<boolean> {
  const { items } = await registryOf(context).stores.tools.list(context.caller.workspace, { limit: 1 })
  if (items.length > 0) return false
  const { bundle } = readBundleFolder(exampleToolsDir)
  await invoke(importBundle, { bundle }, context)
  return true
}
