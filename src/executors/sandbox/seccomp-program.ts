import { type Processor, processors } from './syscalls.ts'

/** One instruction of the kernel's packet filter language: what to do, where to go on, and with which number. */
type Instruction = readonly [code: number, yes: number, no: number, value: number]

const [load, equal, atLeast, anyBit, answer] = [0x20, 0x15, 0x35, 0x45, 0x06]
const [allow, kill] = [0x7fff0000, 0x80000000]
const refuse = (errno: number) => 0x00050000 | errno
const [EPERM, ENOSYS, EAFNOSUPPORT] = [1, 38, 97]

// Where the kernel puts what it asks about: the number of the call, the processor, the low half of the first two arguments.
const [numberAt, archAt, firstAt, secondAt] = [0, 4, 16, 24]

// New mount, cgroup, uts, ipc, user, pid and net namespaces.
const newNamespaces = 0x7e020000
// Typing into the terminal of whoever started us, and pasting into a console.
const [TIOCSTI, TIOCLINUX] = [0x5412, 0x541c]
// Unix, IPv4, IPv6 and netlink belong to the network namespace; others, such as vsock, reach the machine below.
const families = [1, 2, 10, 16]

/**
 * A filter of system calls as the kernel reads it, for the processor of this machine; undefined where there is none. It
 * refuses what looks into other processes, makes namespaces or mounts, or reaches parts of the kernel that no tool needs.
 */
export function seccompProgram(arch: string = process.arch): Buffer | undefined {
  const processor = processors[arch]
  return processor === undefined ? undefined : encode(assemble(processor))
}

function assemble(processor: Processor): readonly Instruction[] {
  const { auditArch, denied, clone, clone3, ioctl, socket, foreign } = processor
  return [
    [load, 0, 0, archAt],
    [equal, 1, 0, auditArch],
    [answer, 0, 0, kill],
    [load, 0, 0, numberAt],
    ...(foreign === undefined ? [] : when([atLeast, foreign], refuse(ENOSYS))),
    ...denied.flatMap((number) => when([equal, number], refuse(EPERM))),
    // Its flags are behind a pointer, which a filter cannot follow; without it programs use clone.
    ...when([equal, clone3], refuse(ENOSYS)),
    ...ofCall(clone, firstAt, when([anyBit, newNamespaces], refuse(EPERM))),
    ...ofCall(
      ioctl,
      secondAt,
      [TIOCSTI, TIOCLINUX].flatMap((request) => when([equal, request], refuse(EPERM))),
    ),
    ...ofCall(socket, firstAt, [
      ...families.flatMap((family) => when([equal, family], allow)),
      [answer, 0, 0, refuse(EAFNOSUPPORT)],
    ]),
    [answer, 0, 0, allow],
  ]
}

const when = ([code, value]: readonly [number, number], result: number): readonly Instruction[] => [
  [code, 0, 1, value],
  [answer, 0, 0, result],
]

/** Looks at an argument of one call; every other call goes past. */
function ofCall(number: number, at: number, checks: readonly Instruction[]): readonly Instruction[] {
  return [[equal, 0, checks.length + 2, number], [load, 0, 0, at], ...checks, [answer, 0, 0, allow]]
}

function encode(program: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(program.length * 8)
  for (const [index, [code, yes, no, value]] of program.entries()) {
    bytes.writeUInt16LE(code, index * 8)
    bytes.writeUInt8(yes, index * 8 + 2)
    bytes.writeUInt8(no, index * 8 + 3)
    bytes.writeUInt32LE(value >>> 0, index * 8 + 4)
  }
  return bytes
}
