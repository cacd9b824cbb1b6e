import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Where groups are made, and the file through which one enters them. */
interface Hierarchy {
  readonly root: string
  readonly entry: string
  /** The line of /proc/self/cgroup that says which group is ours. */
  readonly own: RegExp
  /** The file that bounds memory in the same groups. */
  readonly memory?: string
}

// Version 1 can move one thread, which is quick; version 2 moves the whole process.
const hierarchies: readonly Hierarchy[] = [
  { root: '/sys/fs/cgroup/pids', entry: 'tasks', own: /^\d+:pids:(.*)$/m },
  { root: '/sys/fs/cgroup', entry: 'cgroup.procs', own: /^0::(.*)$/m, memory: 'memory.max' },
]
// In version 1 memory is counted in groups of its own.
const memoryHierarchy: Hierarchy = {
  root: '/sys/fs/cgroup/memory',
  entry: 'tasks',
  own: /^\d+:memory:(.*)$/m,
  memory: 'memory.limit_in_bytes',
}

const isMounted = ({ root }: Hierarchy) => existsSync(join(root, 'cgroup.procs'))
const findHierarchy = () => hierarchies.find(isMounted)
const staleMs = 60_000

/** One group of one hierarchy, and the one we are in ourselves. */
interface Group {
  readonly folder: string
  readonly entry: string
  readonly home: string
}

/** Control groups that bound how many processes one call may have, and how much memory: root is not bound by RLIMIT_NPROC. */
export class PidsCgroup {
  readonly #groups: readonly Group[]

  private constructor(groups: readonly Group[]) {
    this.#groups = groups
  }

  /** Removes the groups of processes that were killed before they could: empty, and too old to be somebody's next. */
  static sweep(): void {
    for (const { root } of [...hierarchies, memoryHierarchy].filter(isMounted)) {
      for (const name of readdirSync(root).filter((entry) => entry.startsWith('tooldex-'))) {
        try {
          if (Date.now() - statSync(join(root, name)).mtimeMs > staleMs) rmdirSync(join(root, name))
        } catch {
          // In use, or swept by another.
        }
      }
    }
  }

  /** A new group, or undefined where this machine does not let us make one. Memory is bounded only where it can be. */
  static create(most: number, memoryBytes?: number): PidsCgroup | undefined {
    const hierarchy = findHierarchy()
    if (hierarchy === undefined) return undefined
    const group = makeGroup(hierarchy, { 'pids.max': most })
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

  /** Starts something that is in the groups from birth. Moved in later, it would have had time to fork. */
  born<T>(start: () => T): T {
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

  /** Removes the groups; one whose last processes are still being reaped is tried again a little later. */
  remove(tries = 20): void {
    const left = this.#groups.filter(({ folder }) => !tryRemove(folder))
    if (left.length > 0 && tries > 0) setTimeout(() => this.remove(tries - 1), 50).unref()
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
