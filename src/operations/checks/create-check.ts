import { BoundedMap } from '../../base/bounded-map.ts'
import type { Problem } from '../../base/problem.ts'
import { Semaphore } from '../../base/semaphore.ts'
import type { Executor } from '../../contract/executor.ts'
import type { ExecutorType } from '../../contract/executor-kinds.ts'
import type { GrantsOf } from '../../contract/grants.ts'
import { hasErrors } from '../../diagnostics/finding.ts'
import { SchemaCache } from '../../json-schema/index.ts'
import { findUngranted } from '../../policy/index.ts'
import type { Registry } from '../registry/registry.ts'
import { checkTool } from './check-tool.ts'

/** The executors of a process, and the grants of its workspaces; all if absent. */
interface CheckParts {
  readonly executors?: Partial<Readonly<Record<ExecutorType, Executor>>> | undefined
  readonly grantsOf?: GrantsOf | undefined
}

// Each check of a script starts a process, and every caller with the scope read can request one.
const checkers = { slots: 2, waiting: 100 }

/** Creates the check of tools, including the checks of executors outside this process. */
export function createCheck({ executors = {}, grantsOf }: CheckParts): Registry['check'] {
  const caches = {
    schemas: new SchemaCache(),
    scripts: new BoundedMap<string, readonly Problem[]>(200),
    turns: new Semaphore(checkers),
  }
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
