import { SchemaCache } from '../base/json-schema.ts'
import { checkTool } from '../operations/registry/check-tool.ts'
import type { Registry } from '../operations/registry/registry.ts'
import type { MoreParts } from './compose.ts'

/** Everything that is wrong with a tool, what its executor can see of the world outside included. */
export function createCheck({ executors = {} }: MoreParts): Registry['check'] {
  const remembered = { schemas: new SchemaCache(), scripts: new Map() }
  return async (content, signal) => {
    const found = await checkTool(content, { ...remembered, signal })
    const { executorType, executorConfig } = content
    const outside = await executors[executorType]?.check?.(executorConfig, '/executorConfig', signal)
    return [...found, ...(outside ?? [])]
  }
}
