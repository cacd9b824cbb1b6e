import { readdirSync, readFileSync } from 'node:fs'

/** All that descends from a process and has not been orphaned, parents first; on Linux only. */
export function descendantsOf(pid: number): readonly number[] {
  try {
    return readChildren(pid).flatMap((child) => [child, ...descendantsOf(child)])
  } catch {
    return []
  }
}

/** The children of a process, dead ones that nobody has waited for included. Throws when it is gone. */
export function readChildren(pid: number): readonly number[] {
  // Each thread has the children it started itself.
  const threads = readdirSync(`/proc/${pid}/task`)
  const lists = threads.map((thread) => readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8'))
  return lists.flatMap((list) => list.split(' ').filter((word) => word !== '')).map(Number)
}
