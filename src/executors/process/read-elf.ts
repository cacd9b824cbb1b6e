import { readdirSync } from 'node:fs'

/** Whether a file begins with the ELF magic number. */
export const isElf = (head: Buffer): boolean => head.subarray(0, 4).toString('hex') === '7f454c46'

// The ELF machine numbers that each processor supports, 32-bit ones included.
const machines: Readonly<Record<string, readonly number[]>> = {
  x64: [62, 3],
  arm64: [183, 40],
  ia32: [3],
  arm: [40],
  ppc64: [21],
  s390x: [22],
  riscv64: [243],
}

/** Whether the system can execute the file; otherwise it would be passed to a shell. */
export function runsHere(head: Buffer): boolean {
  if (head.length < 52) return false
  const executable = [2, 3].includes(readShort(head, 16))
  const supported = machines[process.arch]
  return executable && (supported === undefined || supported.includes(readShort(head, 18)) || hasEmulators())
}

/** Registered emulators can run programs of other processors. */
function hasEmulators(): boolean {
  try {
    return readdirSync('/proc/sys/fs/binfmt_misc').some((name) => name !== 'register' && name !== 'status')
  } catch {
    return false
  }
}

/** The loader of a dynamically linked program, if the first bytes of the file contain its path. */
export function elfLoader(head: Buffer): string | undefined {
  const wide = head[4] === 2
  if (head[5] !== 1) return undefined
  const [table, size, count] = wide
    ? [Number(head.readBigUInt64LE(32)), readShort(head, 54), readShort(head, 56)]
    : [head.readUInt32LE(28), readShort(head, 42), readShort(head, 44)]
  for (let at = table; at < table + size * count && at + 56 <= head.length; at += size) {
    if (head.readUInt32LE(at) !== 3) continue
    const start = wide ? Number(head.readBigUInt64LE(at + 8)) : head.readUInt32LE(at + 4)
    const end = head.indexOf(0, start)
    return start > 0 && end > start ? head.toString('latin1', start, end) : undefined
  }
  return undefined
}

const readShort = (head: Buffer, at: number) => (head[5] === 2 ? head.readUInt16BE(at) : head.readUInt16LE(at))
