/** The audit id of a processor, and the numbers of its system calls. */
export interface Processor {
  readonly auditArch: number
  readonly denied: readonly number[]
  readonly clone: number
  readonly clone3: number
  readonly ioctl: number
  readonly fcntl: number
  readonly socket: number
  /** Numbers from here on belong to a second table of the same processor. */
  readonly foreign: number | undefined
}

// Since Linux 5.3 both processors number new calls alike.
const shared = {
  open_tree: 428,
  move_mount: 429,
  fsopen: 430,
  fsconfig: 431,
  fsmount: 432,
  fspick: 433,
  io_uring_setup: 425,
  io_uring_enter: 426,
  io_uring_register: 427,
  pidfd_getfd: 438,
  process_madvise: 440,
  mount_setattr: 442,
  quotactl_fd: 443,
  open_tree_attr: 467,
}

const x64 = {
  ptrace: 101,
  syslog: 103,
  vhangup: 153,
  pivot_root: 155,
  adjtimex: 159,
  chroot: 161,
  acct: 163,
  settimeofday: 164,
  mount: 165,
  umount2: 166,
  swapon: 167,
  swapoff: 168,
  reboot: 169,
  sethostname: 170,
  setdomainname: 171,
  iopl: 172,
  ioperm: 173,
  init_module: 175,
  delete_module: 176,
  quotactl: 179,
  nfsservctl: 180,
  lookup_dcookie: 212,
  clock_settime: 227,
  kexec_load: 246,
  add_key: 248,
  request_key: 249,
  keyctl: 250,
  migrate_pages: 256,
  unshare: 272,
  move_pages: 279,
  perf_event_open: 298,
  fanotify_init: 300,
  name_to_handle_at: 303,
  open_by_handle_at: 304,
  clock_adjtime: 305,
  setns: 308,
  process_vm_readv: 310,
  process_vm_writev: 311,
  kcmp: 312,
  finit_module: 313,
  kexec_file_load: 320,
  bpf: 321,
  userfaultfd: 323,
}

const arm64 = {
  lookup_dcookie: 18,
  umount2: 39,
  mount: 40,
  pivot_root: 41,
  nfsservctl: 42,
  chroot: 51,
  vhangup: 58,
  quotactl: 60,
  acct: 89,
  unshare: 97,
  kexec_load: 104,
  init_module: 105,
  delete_module: 106,
  clock_settime: 112,
  syslog: 116,
  ptrace: 117,
  reboot: 142,
  sethostname: 161,
  setdomainname: 162,
  settimeofday: 170,
  adjtimex: 171,
  add_key: 217,
  request_key: 218,
  keyctl: 219,
  swapon: 224,
  swapoff: 225,
  migrate_pages: 238,
  move_pages: 239,
  perf_event_open: 241,
  fanotify_init: 262,
  name_to_handle_at: 264,
  open_by_handle_at: 265,
  clock_adjtime: 266,
  setns: 268,
  process_vm_readv: 270,
  process_vm_writev: 271,
  kcmp: 272,
  finit_module: 273,
  bpf: 280,
  userfaultfd: 282,
  kexec_file_load: 294,
}

/** The processors that the filter supports. */
export const processors: Readonly<Record<string, Processor>> = {
  x64: {
    auditArch: 0xc000003e,
    denied: Object.values({ ...shared, ...x64 }),
    clone: 56,
    clone3: 435,
    ioctl: 16,
    fcntl: 72,
    socket: 41,
    foreign: 0x40000000,
  },
  arm64: {
    auditArch: 0xc00000b7,
    denied: Object.values({ ...shared, ...arm64 }),
    clone: 220,
    clone3: 435,
    ioctl: 29,
    fcntl: 25,
    socket: 198,
    foreign: undefined,
  },
}

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

const x64Confined = {
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

const arm64Confined = {
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
    denied: Object.values({ ...newer, ...x64Confined }),
    unsupported: Object.values({ ...newerUnsupported, ...x64Unsupported }),
    ofOwner: Object.values({ ...newerOfOwner, ...x64OfOwner }),
    // setpriority names a kind, then who; prlimit64, sched_setparam, _setscheduler, _setaffinity and _setattr name who first.
    own: [[141, [0, 1]], ...[302, 142, 144, 203, 314].map((number) => [number, [0]] as const)],
    utimensat: 280,
    socketpair: 53,
  },
  arm64: {
    denied: Object.values({ ...newer, ...arm64Confined }),
    unsupported: Object.values({ ...newerUnsupported, ...arm64Unsupported }),
    ofOwner: Object.values({ ...newerOfOwner, ...arm64OfOwner }),
    own: [[140, [0, 1]], ...[261, 118, 119, 122, 274].map((number) => [number, [0]] as const)],
    utimensat: 88,
    socketpair: 199,
  },
}
