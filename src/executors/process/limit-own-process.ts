import { execFile } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import { promisify } from 'node:util'
import { helperEnvironment } from './base-environment.ts'
import type { ProcessLimits } from './limits.ts'

/**
 * Bounds file sizes and process counts of this process and its children. Limits are inherited, so setting them once adds
 * no cost per call. Without `prlimit`, the limits of the machine apply.
 */
export async function limitOwnProcess(limits: ProcessLimits): Promise<void> {
  if (process.platform !== 'linux') return
  const wanted = [`--fsize=${limits.fileBytes}:${limits.fileBytes}`, '--core=0:0', ...processLimit(limits)]
  for (const limit of wanted) {
    const options = { timeout: 2000, env: helperEnvironment() }
    await promisify(execFile)('prlimit', ['--pid', String(process.pid), limit], options).catch(() => {})
  }
}

/** RLIMIT_NPROC counts all threads of the user, so it is set above the current number; it does not bind root. */
function processLimit(limits: ProcessLimits): readonly string[] {
  const uid = process.geteuid?.()
  if (uid === undefined || uid === 0) return []
  return [`--nproc=${countThreadsOfUser(uid) + limits.processes}:`]
}

/** The number of threads of a user. */
export function countThreadsOfUser(uid: number): number {
  let threads = 0
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      if (statSync(`/proc/${pid}`).uid === uid) threads += readdirSync(`/proc/${pid}/task`).length
    } catch {
      // The process ended during the count.
    }
  }
  return threads
}
