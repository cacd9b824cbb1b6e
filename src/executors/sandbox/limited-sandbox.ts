import type { Containment, ProcessScope } from '../process/containment.ts'
import { countThreads } from '../process/limit-own-process.ts'
import { makeFolder, removeFolder } from './fresh-folder.ts'
import { prlimitArguments, type SandboxLimits } from './sandbox-limits.ts'

/** A cell without walls, and the folder it begins in. */
export interface LimitedSandbox extends ProcessScope {
  readonly folder: string
}

/** Limits only: the program is bounded in what it uses, and sees all that we see. */
export async function limitedSandbox(
  containment: Containment,
  prlimit: string,
  limits: SandboxLimits,
  withChannel: boolean,
): Promise<LimitedSandbox> {
  const folder = makeFolder(undefined)
  const cell = await containment.start(limits.processes)
  const words = prlimitArguments(limits, processLimit(limits))
  return {
    ...cell,
    folder,
    streams: withChannel ? ['pipe'] : [],
    wrap: (program, args) => cell.wrap(prlimit, [...words, program, ...args]),
    async close() {
      await cell.close()
      await removeFolder(folder)
    },
  }
}

/** RLIMIT_NPROC counts all threads of the user, so it is set above those there are; root is bound by a control group. */
function processLimit(limits: SandboxLimits): number | undefined {
  const uid = process.geteuid?.()
  if (uid === undefined || uid === 0) return undefined
  return countThreads(uid) + limits.processes
}
