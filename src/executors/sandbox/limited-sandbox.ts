import { chmodSync, chownSync, mkdtempSync, readdirSync, realpathSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Containment, ProcessScope } from '../process/containment.ts'
import { countThreadsOfUser } from '../process/limit-own-process.ts'
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
  const folder = makeSandboxFolder(undefined)
  const scope = await containment.start(limits.processes)
  const limitArguments = prlimitArguments(limits, processLimit(limits))
  return {
    ...scope,
    folder,
    streams: withChannel ? ['pipe'] : [],
    wrap: (program, args) => scope.wrap(prlimit, [...limitArguments, program, ...args]),
    async close() {
      await scope.close()
      await removeSandboxFolder(folder)
    },
  }
}

/** RLIMIT_NPROC counts all threads of the user, so it is set above the current number; root is bound by a control group. */
function processLimit(limits: SandboxLimits): number | undefined {
  const uid = process.geteuid?.()
  if (uid === undefined || uid === 0) return undefined
  return countThreadsOfUser(uid) + limits.processes
}

/** An empty folder for one run, which belongs to the user that it runs as. */
export function makeSandboxFolder(user: number | undefined): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'tooldex-work-')))
  if (user !== undefined) chownSync(folder, user, user)
  return folder
}

/** Removes the folder with its content. A run may have removed the permissions of its own folders, also for this process if the user is the same. */
export async function removeSandboxFolder(folder: string): Promise<void> {
  const remove = () => rm(folder, { recursive: true, force: true })
  await remove().catch(() => {
    openUp(folder)
    return remove().catch(() => {})
  })
}

function openUp(folder: string): void {
  try {
    chmodSync(folder, 0o700)
    for (const entry of readdirSync(folder, { withFileTypes: true }))
      if (entry.isDirectory()) openUp(join(folder, entry.name))
  } catch {
    // A folder that cannot be opened stays; the rest is removed.
  }
}
