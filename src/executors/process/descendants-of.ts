import { readdirSync, readFileSync } from 'node:fs'

/** The descendants of a process without orphans, parents first; on Linux only. */
export function descendantsOf(pid: number): readonly number[] {
  try {
    return readChildren(pid).flatMap((child) => [child, ...descendantsOf(child)])
  } catch {
    return []
  }
}

/** The children of a process, zombies included. Throws if the process has ended. */
export function readChildren(pid: number): readonly number[] {
  // The kernel lists children per thread.
  const threads = readdirSync(`/proc/${pid}/task`)
  const lists = threads.map((thread) => readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8'))
  return lists.flatMap((list) => list.split(' ').filter((word) => word !== '')).map(Number)
}
