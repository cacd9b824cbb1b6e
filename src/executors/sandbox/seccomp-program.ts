import { type ConfinedCalls, confinedCalls, type Processor, processors } from './syscalls.ts'

/** One BPF instruction: the operation, the two jump offsets and the operand. */
type Instruction = readonly [code: number, yes: number, no: number, value: number]

const [load, equal, atLeast, anyBit, ret, keepBits] = [0x20, 0x15, 0x35, 0x45, 0x06, 0x54]
const [allow, kill] = [0x7fff0000, 0x80000000]
const refuse = (errno: number) => 0x00050000 | errno
const [EPERM, ENOSYS, EOPNOTSUPP, EAFNOSUPPORT] = [1, 38, 95, 97]

// Offsets in the kernel's seccomp data: the number of the call, the processor, the low half of the first two arguments.
const [numberAt, archAt, firstAt, secondAt] = [0, 4, 16, 24]
const highHalf = 4

// New mount, cgroup, uts, ipc, user, pid and net namespaces.
const newNamespaces = 0x7e020000
// Injecting input into the controlling terminal, and pasting into a console.
const [TIOCSTI, TIOCLINUX] = [0x5412, 0x541c]
// Flags, project, version, verity and encryption of a file, which its owner may set without the right to write to it.
const fileRequests = [0x40086602, 0x40046602, 0x401c5820, 0x40087602, 0x40806685, 0x800c6613]
// A lease makes other programs wait for the file.
const F_SETLEASE = 1024
// Unix, IPv4, IPv6 and netlink belong to the network namespace; others, such as vsock, reach the machine below.
const families = [1, 2, 10, 16]
// Without a namespace of its own a Unix socket would reach every service that has one.
const confinedFamilies = families.filter((family) => family !== 1)
const [typeBits, stream, packets] = [0xf, 1, 5]

/** The settings of a run without namespaces, for which the filter must deny more. */
export interface Confinement {
  readonly network: boolean
  /** Whether the user that it runs as may own files of the machine. */
  readonly ownsFiles: boolean
}

/**
 * A filter of system calls as the kernel reads it, for the processor of this machine; undefined where there is none. It
 * denies access to other processes, namespaces and mounts, and the parts of the kernel that no tool needs.
 */
export function seccompProgram(arch: string = process.arch, confinement?: Confinement): Buffer | undefined {
  const [processor, calls] = [processors[arch], confinedCalls[arch]]
  if (processor === undefined || calls === undefined) return undefined
  if (confinement === undefined) return encode(assemble(processor, families))
  const allowed = confinement.network ? confinedFamilies : []
  return encode(assemble(processor, allowed, confine(calls, confinement)))
}

/** The restrictions that replace namespaces. */
function confine(calls: ConfinedCalls, { ownsFiles }: Confinement): readonly Instruction[] {
  const denied = [...calls.denied, ...(ownsFiles ? calls.ofOwner : [])]
  return [
    ...denied.flatMap((number) => when([equal, number], refuse(EPERM))),
    ...calls.unsupported.flatMap((number) => when([equal, number], refuse(EOPNOTSUPP))),
    ...calls.own.flatMap(([number, positions]) =>
      mustBeZero(
        number,
        positions.map((position) => firstAt + position * (secondAt - firstAt)),
      ),
    ),
    // Without a path, the call changes an open file.
    ...(ownsFiles ? mustBeZero(calls.utimensat, [secondAt, secondAt + highHalf]) : []),
    // A datagram socket of a pair can send to other sockets, too.
    ...ofCall(calls.socketpair, secondAt, [
      [keepBits, 0, 0, typeBits],
      ...[stream, packets].flatMap((type) => when([equal, type], allow)),
      [ret, 0, 0, refuse(EPERM)],
    ]),
  ]
}

function assemble(
  processor: Processor,
  allowed: readonly number[],
  more: readonly Instruction[] = [],
): readonly Instruction[] {
  const { auditArch, denied, clone, clone3, ioctl, fcntl, socket, foreign } = processor
  return [
    [load, 0, 0, archAt],
    [equal, 1, 0, auditArch],
    [ret, 0, 0, kill],
    [load, 0, 0, numberAt],
    ...(foreign === undefined ? [] : when([atLeast, foreign], refuse(ENOSYS))),
    ...denied.flatMap((number) => when([equal, number], refuse(EPERM))),
    // Its flags are behind a pointer, which a filter cannot follow; without it programs use clone.
    ...when([equal, clone3], refuse(ENOSYS)),
    ...ofCall(clone, firstAt, when([anyBit, newNamespaces], refuse(EPERM))),
    ...ofCall(
      ioctl,
      secondAt,
      [TIOCSTI, TIOCLINUX, ...fileRequests].flatMap((request) => when([equal, request], refuse(EPERM))),
    ),
    ...ofCall(fcntl, secondAt, when([equal, F_SETLEASE], refuse(EPERM))),
    ...more,
    ...ofCall(socket, firstAt, [
      ...allowed.flatMap((family) => when([equal, family], allow)),
      [ret, 0, 0, refuse(allowed.length === 0 ? EPERM : EAFNOSUPPORT)],
    ]),
    [ret, 0, 0, allow],
  ]
}

const when = ([code, value]: readonly [number, number], action: number): readonly Instruction[] => [
  [code, 0, 1, value],
  [ret, 0, 0, action],
]

/** Checks an argument of one call; other calls skip the check. */
function ofCall(number: number, at: number, checks: readonly Instruction[]): readonly Instruction[] {
  return [[equal, 0, checks.length + 2, number], [load, 0, 0, at], ...checks, [ret, 0, 0, allow]]
}

/** Denies a call unless the values at these offsets are zero; other calls skip the check. */
function mustBeZero(number: number, positions: readonly number[]): readonly Instruction[] {
  const checks = positions.flatMap((at): readonly Instruction[] => [
    [load, 0, 0, at],
    [equal, 1, 0, 0],
    [ret, 0, 0, refuse(EPERM)],
  ])
  return [[equal, 0, checks.length + 1, number], ...checks, [ret, 0, 0, allow]]
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
