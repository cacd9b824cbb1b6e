import { type ConfinedCalls, confinedCalls } from './confined-syscalls.ts'
import { type Processor, processors } from './syscalls.ts'

/** One instruction of the kernel's packet filter language: what to do, where to go on, and with which number. */
type Instruction = readonly [code: number, yes: number, no: number, value: number]

const [load, equal, atLeast, anyBit, answer, keepBits] = [0x20, 0x15, 0x35, 0x45, 0x06, 0x54]
const [allow, kill] = [0x7fff0000, 0x80000000]
const refuse = (errno: number) => 0x00050000 | errno
const [EPERM, ENOSYS, EAFNOSUPPORT] = [1, 38, 97]

// Where the kernel puts what it asks about: the number of the call, the processor, the low half of the first two arguments.
const [numberAt, archAt, firstAt, secondAt] = [0, 4, 16, 24]
const highHalf = 4

// New mount, cgroup, uts, ipc, user, pid and net namespaces.
const newNamespaces = 0x7e020000
// Typing into the terminal of whoever started us, and pasting into a console.
const [TIOCSTI, TIOCLINUX] = [0x5412, 0x541c]
// Unix, IPv4, IPv6 and netlink belong to the network namespace; others, such as vsock, reach the machine below.
const families = [1, 2, 10, 16]
// Without a namespace of its own a Unix socket would reach every service that has one.
const confinedFamilies = families.filter((family) => family !== 1)
const [typeBits, stream, packets] = [0xf, 1, 5]

/** What a run has whose walls are not namespaces, and for which the filter must do more. */
export interface Confinement {
  readonly network: boolean
  /** Whether the user that it runs as may own files of the machine. */
  readonly ownsFiles: boolean
}

/**
 * A filter of system calls as the kernel reads it, for the processor of this machine; undefined where there is none. It
 * refuses what looks into other processes, makes namespaces or mounts, or reaches parts of the kernel that no tool needs.
 */
export function seccompProgram(arch: string = process.arch, confinement?: Confinement): Buffer | undefined {
  const [processor, calls] = [processors[arch], confinedCalls[arch]]
  if (processor === undefined || calls === undefined) return undefined
  if (confinement === undefined) return encode(assemble(processor, families))
  const allowed = confinement.network ? confinedFamilies : []
  return encode(assemble(processor, allowed, confine(calls, confinement)))
}

/** What namespaces would have held. */
function confine(calls: ConfinedCalls, { ownsFiles }: Confinement): readonly Instruction[] {
  const denied = [...calls.denied, ...(ownsFiles ? calls.byPath : [])]
  return [
    ...denied.flatMap((number) => when([equal, number], refuse(EPERM))),
    ...calls.own.flatMap(([number, places]) =>
      mustBeNought(
        number,
        places.map((place) => firstAt + place * (secondAt - firstAt)),
      ),
    ),
    // Without a path it is about an open file.
    ...(ownsFiles ? mustBeNought(calls.utimensat, [secondAt, secondAt + highHalf]) : []),
    // A pair that sends datagrams can send them to others than its like.
    ...ofCall(calls.socketpair, secondAt, [
      [keepBits, 0, 0, typeBits],
      ...[stream, packets].flatMap((type) => when([equal, type], allow)),
      [answer, 0, 0, refuse(EPERM)],
    ]),
  ]
}

function assemble(
  processor: Processor,
  allowed: readonly number[],
  more: readonly Instruction[] = [],
): readonly Instruction[] {
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
    ...more,
    ...ofCall(socket, firstAt, [
      ...allowed.flatMap((family) => when([equal, family], allow)),
      [answer, 0, 0, refuse(allowed.length === 0 ? EPERM : EAFNOSUPPORT)],
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

/** Refuses a call unless what is at each of these places is nought; every other call goes past. */
function mustBeNought(number: number, places: readonly number[]): readonly Instruction[] {
  const checks = places.flatMap((at): readonly Instruction[] => [
    [load, 0, 0, at],
    [equal, 1, 0, 0],
    [answer, 0, 0, refuse(EPERM)],
  ])
  return [[equal, 0, checks.length + 1, number], ...checks, [answer, 0, 0, allow]]
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
