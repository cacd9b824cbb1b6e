/** The additional system calls that a run without namespaces is denied, by their numbers on one processor. */
export interface ConfinedCalls {
  /**
   * Memory and queues that outlive a run, events of folders and mounts that it may not read, the disk priority of others, and
   * extended attributes: Landlock does not check them, and the right to write is enough to change them.
   */
  readonly denied: readonly number[]
  /** Calls that read extended attributes, which Landlock does not check either; programs take it that the file system has none. */
  readonly unsupported: readonly number[]
  /**
   * Calls that change the mode, owner or times of a file, which Landlock does not check: by its path, or through a file that was
   * opened to be read. Denied to a user who may own files elsewhere.
   */
  readonly ofOwner: readonly number[]
  /** Calls on a process that may only target the caller: the positions of the arguments that must be zero. */
  readonly own: readonly (readonly [number: number, places: readonly number[]])[]
  readonly utimensat: number
  readonly socketpair: number
}

// Numbers that both processors have.
const newer = { statmount: 457, listmount: 458, setxattrat: 463, removexattrat: 466, file_setattr: 469 }
const newerUnsupported = { getxattrat: 464, listxattrat: 465 }
const newerOfOwner = { fchmodat2: 452 }

const x64 = {
  setxattr: 188,
  lsetxattr: 189,
  fsetxattr: 190,
  removexattr: 197,
  lremovexattr: 198,
  fremovexattr: 199,
  shmget: 29,
  shmat: 30,
  shmctl: 31,
  semget: 64,
  semop: 65,
  semctl: 66,
  msgget: 68,
  msgsnd: 69,
  msgrcv: 70,
  msgctl: 71,
  semtimedop: 220,
  mq_open: 240,
  mq_unlink: 241,
  ioprio_set: 251,
  inotify_add_watch: 254,
}

const x64Unsupported = {
  getxattr: 191,
  lgetxattr: 192,
  fgetxattr: 193,
  listxattr: 194,
  llistxattr: 195,
  flistxattr: 196,
}

const x64OfOwner = {
  chmod: 90,
  fchmod: 91,
  chown: 92,
  fchown: 93,
  lchown: 94,
  utime: 132,
  utimes: 235,
  fchownat: 260,
  futimesat: 261,
  fchmodat: 268,
}

const arm64 = {
  setxattr: 5,
  lsetxattr: 6,
  fsetxattr: 7,
  removexattr: 14,
  lremovexattr: 15,
  fremovexattr: 16,
  inotify_add_watch: 27,
  ioprio_set: 30,
  mq_open: 180,
  mq_unlink: 181,
  msgget: 186,
  msgctl: 187,
  msgrcv: 188,
  msgsnd: 189,
  semget: 190,
  semctl: 191,
  semtimedop: 192,
  semop: 193,
  shmget: 194,
  shmctl: 195,
  shmat: 196,
}

const arm64Unsupported = { getxattr: 8, lgetxattr: 9, fgetxattr: 10, listxattr: 11, llistxattr: 12, flistxattr: 13 }

const arm64OfOwner = { fchmod: 52, fchmodat: 53, fchownat: 54, fchown: 55 }

/** By the processor names of Node. */
export const confinedCalls: Readonly<Record<string, ConfinedCalls>> = {
  x64: {
    denied: Object.values({ ...newer, ...x64 }),
    unsupported: Object.values({ ...newerUnsupported, ...x64Unsupported }),
    ofOwner: Object.values({ ...newerOfOwner, ...x64OfOwner }),
    // setpriority names a kind, then who; prlimit64, sched_setparam, _setscheduler, _setaffinity and _setattr name who first.
    own: [[141, [0, 1]], ...[302, 142, 144, 203, 314].map((number) => [number, [0]] as const)],
    utimensat: 280,
    socketpair: 53,
  },
  arm64: {
    denied: Object.values({ ...newer, ...arm64 }),
    unsupported: Object.values({ ...newerUnsupported, ...arm64Unsupported }),
    ofOwner: Object.values({ ...newerOfOwner, ...arm64OfOwner }),
    own: [[140, [0, 1]], ...[261, 118, 119, 122, 274].map((number) => [number, [0]] as const)],
    utimensat: 88,
    socketpair: 199,
  },
}
