import type { Containment, ProcessScope } from '../process/containment.ts'
import { countThreads } from '../process/limit-own-process.ts'
import { makeFolder, removeFolder } from './fresh-folder.ts'
import { prlimitArguments, type SandboxLimits } from './sandbox-limits.ts'

/** A process scope without a sandbox, and its work folder. */
export interface LimitedSandbox extends ProcessScope {
  readonly folder: string
}

/** Limits only: the resources of the program are bounded, but it has the same access as this process. */
export async function limitedSandbox(
  containment: Containment,
  prlimit: string,
  limits: SandboxLimits,
  withChannel: boolean,
): Promise<LimitedSandbox> {
  const folder = makeFolder(undefined)
  const scope = await containment.start(limits.processes)
  const limitArguments = prlimitArguments(limits, processLimit(limits))
  return {
    ...scope,
    folder,
    streams: withChannel ? ['pipe'] : [],
    wrap: (program, args) => scope.wrap(prlimit, [...limitArguments, program, ...args]),
    async close() {
      await scope.close()
      await removeFolder(folder)
    },
  }
}

/** RLIMIT_NPROC counts all threads of the user, so it is set above the current number; root is bound by a control group. */
function processLimit(limits: SandboxLimits): number | undefined {
  const uid = process.geteuid?.()
  if (uid === undefined || uid === 0) return undefined
  return countThreads(uid) + limits.processes
}
