import { SchemaCache } from '../base/json-schema.ts'
import { Semaphore } from '../base/semaphore.ts'
import { checkTool } from '../operations/registry/check-tool.ts'
import type { Registry } from '../operations/registry/registry.ts'
import type { MoreParts } from './compose.ts'

// Each check of a script is a process of its own, and everybody who may read can ask for one.
const checkers = { slots: 2, waiting: 100 }

/** Checks tools for everything that is wrong with them, including what their executors find outside this process. */
export function createCheck({ executors = {} }: MoreParts): Registry['check'] {
  const remembered = { schemas: new SchemaCache(), scripts: new Map(), turns: new Semaphore(checkers) }
  return async (content, signal, outside = true) => {
    const found = await checkTool(content, { ...remembered, signal })
    const { executorType, executorConfig } = content
    const executor = executors[executorType]
    if (executor?.check === undefined) return found
    if (outside) return [...found, ...(await executor.check(executorConfig, '/executorConfig', signal))]
    const message = 'the server that it names was not asked: that needs the scope write'
    return [...found, { severity: 'warning', pointer: '/executorConfig', message }]
  }
}
