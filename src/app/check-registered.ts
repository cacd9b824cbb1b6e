import { Semaphore } from '../base/semaphore.ts'
import { hasErrors } from '../documents/typed-yaml.ts'
import { SchemaCache } from '../json-schema/index.ts'
import { checkTool } from '../operations/checks/check-tool.ts'
import type { Registry } from '../operations/registry/registry.ts'
import { findUngranted } from '../policy/index.ts'
import type { MoreParts } from './compose.ts'

// Each check of a script is a process of its own, and everybody who may read can ask for one.
const checkers = { slots: 2, waiting: 100 }

/** Checks tools for everything that is wrong with them, including what their executors find outside this process. */
export function createCheck({ executors = {}, grantsOf }: MoreParts): Registry['check'] {
  const remembered = { schemas: new SchemaCache(), scripts: new Map(), turns: new Semaphore(checkers) }
  return async (content, { caller, scopes, signal, prepare }) => {
    const found = await checkTool(content, { ...remembered, signal })
    const ungranted = grantsOf === undefined ? [] : findUngranted(content, caller.workspace, grantsOf)
    // A part of the host that was not granted is not looked at either.
    if (ungranted.length > 0) return [...found, ...ungranted]
    const { executorType, executorConfig } = content
    const executor = executors[executorType]
    if (executor?.check === undefined) return found
    const options = { signal, prepare: prepare === true && !hasErrors(found) }
    if (scopes.has('write') || executorType !== 'mcp')
      return [...found, ...(await executor.check(executorConfig, '/executorConfig', options))]
    const message = 'the server that it names was not asked: that needs the scope write'
    return [...found, { severity: 'warning', pointer: '/executorConfig', message }]
  }
}
