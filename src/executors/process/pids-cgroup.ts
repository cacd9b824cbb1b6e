import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** The root of a cgroup hierarchy, and the file that moves a process into a group. */
interface Hierarchy {
  readonly root: string
  readonly entry: string
  /** The line of /proc/self/cgroup with the group of this process. */
  readonly own: RegExp
  /** The file that bounds memory in the same groups. */
  readonly memory?: string
}

// Version 1 can move one thread, which is quick; version 2 moves the whole process.
const hierarchies: readonly Hierarchy[] = [
  { root: '/sys/fs/cgroup/pids', entry: 'tasks', own: /^\d+:pids:(.*)$/m },
  { root: '/sys/fs/cgroup', entry: 'cgroup.procs', own: /^0::(.*)$/m, memory: 'memory.max' },
]
// In version 1, memory has a hierarchy of its own.
const memoryHierarchy: Hierarchy = {
  root: '/sys/fs/cgroup/memory',
  entry: 'tasks',
  own: /^\d+:memory:(.*)$/m,
  memory: 'memory.limit_in_bytes',
}

const isMounted = ({ root }: Hierarchy) => existsSync(join(root, 'cgroup.procs'))
const findHierarchy = () => hierarchies.find(isMounted)
const staleMs = 60_000

/** One group of one hierarchy, and the group of this process. */
interface Group {
  readonly folder: string
  readonly entry: string
  readonly home: string
}

/** Control groups that bound the processes and the memory of one call: RLIMIT_NPROC does not bind root. */
export class PidsCgroup {
  readonly #groups: readonly Group[]

  private constructor(groups: readonly Group[]) {
    this.#groups = groups
  }

  /** Removes the groups that killed processes left behind: empty ones that are too old to be in preparation. */
  static sweep(): void {
    for (const { root } of [...hierarchies, memoryHierarchy].filter(isMounted)) {
      for (const name of readdirSync(root).filter((entry) => entry.startsWith('tooldex-'))) {
        try {
          if (Date.now() - statSync(join(root, name)).mtimeMs > staleMs) rmdirSync(join(root, name))
        } catch {
          // In use, or removed by another process.
        }
      }
    }
  }

  /** A new group, or undefined if the machine does not allow one. Memory is bounded only if the machine supports it. */
  static create(maxProcesses: number, memoryBytes?: number): PidsCgroup | undefined {
    const hierarchy = findHierarchy()
    if (hierarchy === undefined) return undefined
    const group = makeGroup(hierarchy, { 'pids.max': maxProcesses })
    if (group === undefined) return undefined
    if (memoryBytes === undefined) return new PidsCgroup([group])
    if (hierarchy.memory !== undefined) {
      tryWrite(join(group.folder, hierarchy.memory), memoryBytes)
      return new PidsCgroup([group])
    }
    const counted = isMounted(memoryHierarchy)
      ? makeGroup(memoryHierarchy, { [memoryHierarchy.memory as string]: memoryBytes })
      : undefined
    return new PidsCgroup(counted === undefined ? [group] : [group, counted])
  }

  /** Starts a process inside the groups. Moved in later, it would have had time to fork. */
  spawnInside<T>(start: () => T): T {
    const entered: Group[] = []
    try {
      for (const group of this.#groups) {
        writeFileSync(join(group.folder, group.entry), '0')
        entered.push(group)
      }
      return start()
    } finally {
      for (const { home, entry } of entered) writeFileSync(join(home, entry), '0')
    }
  }

  /** Removes the groups; retries while the last processes of a group are being reaped. */
  remove(retries = 20): void {
    const left = this.#groups.filter(({ folder }) => !tryRemove(folder))
    if (left.length > 0 && retries > 0) setTimeout(() => this.remove(retries - 1), 50).unref()
  }
}

function makeGroup({ root, entry, own }: Hierarchy, limits: Readonly<Record<string, number>>): Group | undefined {
  const folder = join(root, `tooldex-${process.pid}-${randomBytes(6).toString('hex')}`)
  try {
    mkdirSync(folder)
  } catch {
    return undefined
  }
  if (Object.entries(limits).every(([file, value]) => tryWrite(join(folder, file), value))) {
    const [, home = '/'] = own.exec(readFileSync('/proc/self/cgroup', 'utf8')) ?? []
    return { folder, entry, home: join(root, home) }
  }
  rmdirSync(folder)
  return undefined
}

function tryWrite(file: string, value: number): boolean {
  try {
    writeFileSync(file, String(value))
    return true
  } catch {
    return false
  }
}

function tryRemove(folder: string): boolean {
  try {
    rmdirSync(folder)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT'
  }
}
