import { readdirSync, readFileSync } from 'node:fs'

const closesOnExec = 0o2000000

/**
 * Descriptors that this process inherited and that every child would inherit, too. Descriptors of Node close on exec; of
 * the inherited ones, Node closes only the first few.
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
    // The descriptor of the folder listing itself.
    return true
  }
}
