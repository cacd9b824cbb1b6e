import { readFileSync } from 'node:fs'

/** All that descends from a process and has not been orphaned, parents first; on Linux only. */
export function descendantsOf(pid: number): readonly number[] {
  return childrenOf(pid).flatMap((child) => [child, ...descendantsOf(child)])
}

/** The children of a process, dead ones that nobody has waited for included; none of a process that is gone. */
export function childrenOf(pid: number): readonly number[] {
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    return text
      .split(' ')
      .filter((word) => word !== '')
      .map(Number)
  } catch {
    return []
  }
}
