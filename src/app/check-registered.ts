import { Semaphore } from '../base/semaphore.ts'
import { hasErrors } from '../documents/typed-yaml.ts'
import { SchemaCache } from '../json-schema/index.ts'
import { checkTool } from '../operations/checks/check-tool.ts'
import type { Registry } from '../operations/registry/registry.ts'
import { findUngranted } from '../policy/index.ts'
import type { MoreParts } from './compose.ts'

// Each check of a script starts a process, and every caller with the scope read can request one.
const checkers = { slots: 2, waiting: 100 }

/** Creates the check of tools, including the checks of executors outside this process. */
export function createCheck({ executors = {}, grantsOf }: MoreParts): Registry['check'] {
  const caches = { schemas: new SchemaCache(), scripts: new Map(), turns: new Semaphore(checkers) }
  return async (content, { caller, scopes, signal, prepare }) => {
    const found = await checkTool(content, { ...caches, signal })
    const ungranted = grantsOf === undefined ? [] : findUngranted(content, caller.workspace, grantsOf)
    // Parts of the host without a grant are not accessed.
    if (ungranted.length > 0) return [...found, ...ungranted]
    const { executorType, executorConfig } = content
    const executor = executors[executorType]
    if (executor?.check === undefined) return found
    const options = { signal, prepare: prepare === true && !hasErrors(found), mayStart: scopes.has('write') }
    return [...found, ...(await executor.check(executorConfig, '/executorConfig', options))]
  }
}
