import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { constants } from 'node:os'

/** Signals a process, or a process group if the pid is negative; returns whether it existed. */
export function signalProcess(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal)
  } catch {
    return false
  }
}

const names = new Map(Object.entries(constants.signals).map(([name, number]) => [number, name as NodeJS.Signals]))

/** The name of a signal; null for a number that is not a signal. */
export const signalOf = (number: number): NodeJS.Signals | null => names.get(number) ?? null

/** The descendants of a process without orphans, parents first; on Linux only. */
export function descendantsOfProcess(pid: number): readonly number[] {
  try {
    return readChildProcesses(pid).flatMap((child) => [child, ...descendantsOfProcess(child)])
  } catch {
    return []
  }
}

/** The children of a process, zombies included. Throws if the process has ended. */
export function readChildProcesses(pid: number): readonly number[] {
  // The kernel lists children per thread.
  const threads = readdirSync(`/proc/${pid}/task`)
  const lists = threads.map((thread) => readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8'))
  return lists.flatMap((list) => list.split(' ').filter((word) => word !== '')).map(Number)
}

/**
 * Whether /proc belongs to the PID namespace of this process. In a PID namespace without a /proc of its own, such as that of
 * a call, its pids denote other processes than the ones that a signal would reach.
 */
export function isOwnProc(): boolean {
  try {
    return readlinkSync('/proc/self') === String(process.pid)
  } catch {
    return false
  }
}

const maxScans = 100

/** Kills all processes of a user that belongs to one run; repeated, because a process may fork during the scan. */
export function killProcessesOfUser(uid: number): void {
  if (!isOwnProc()) return
  for (let scan = 0; scan < maxScans; scan++) {
    const found = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && ownerOf(name) === uid)
    if (found.length === 0) return
    for (const pid of found) signalProcess(Number(pid), 'SIGKILL')
  }
}

const ownerOf = (pid: string): number | undefined => statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid
