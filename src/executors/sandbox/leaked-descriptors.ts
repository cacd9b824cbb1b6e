import { readdirSync, readFileSync } from 'node:fs'

const closesOnExec = 0o2000000

/**
 * Files that whoever started us left open, and that every program we start would inherit. Ours close by themselves; of
 * theirs only the first few are closed by Node.
 */
export function leakedDescriptors(): readonly number[] {
  try {
    return readdirSync('/proc/self/fd')
      .map(Number)
      .filter((fd) => fd > 2 && !closes(fd))
  } catch {
    return []
  }
}

function closes(fd: number): boolean {
  try {
    const [, flags = '0'] = /^flags:\s*([0-7]+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'latin1')) ?? []
    return (Number.parseInt(flags, 8) & closesOnExec) !== 0
  } catch {
    // It was the folder that we read.
    return true
  }
}
