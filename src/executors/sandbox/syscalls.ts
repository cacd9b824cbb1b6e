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
