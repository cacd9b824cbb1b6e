import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Where groups are made, and the file through which one enters them. */
interface Hierarchy {
  readonly root: string
  readonly entry: string
  /** The line of /proc/self/cgroup that says which group is ours. */
  readonly own: RegExp
}

// Version 1 can move one thread, which is quick; version 2 moves the whole process.
const hierarchies: readonly Hierarchy[] = [
  { root: '/sys/fs/cgroup/pids', entry: 'tasks', own: /^\d+:pids:(.*)$/m },
  { root: '/sys/fs/cgroup', entry: 'cgroup.procs', own: /^0::(.*)$/m },
]

const findHierarchy = () => hierarchies.find(({ root }) => existsSync(join(root, 'cgroup.procs')))
const staleMs = 60_000

/** A control group that bounds how many processes one call may have: root is not bound by RLIMIT_NPROC. */
export class PidsCgroup {
  readonly #hierarchy: Hierarchy
  readonly #folder: string
  /** The group we are in ourselves. */
  readonly #home: string

  private constructor(hierarchy: Hierarchy, folder: string) {
    this.#hierarchy = hierarchy
    this.#folder = folder
    const [, home = '/'] = hierarchy.own.exec(readFileSync('/proc/self/cgroup', 'utf8')) ?? []
    this.#home = home
  }

  /** Removes the groups of processes that were killed before they could: empty, and too old to be somebody's next. */
  static sweep(): void {
    const { root } = findHierarchy() ?? {}
    if (root === undefined) return
    for (const name of readdirSync(root).filter((entry) => entry.startsWith('tooldex-'))) {
      try {
        if (Date.now() - statSync(join(root, name)).mtimeMs > staleMs) rmdirSync(join(root, name))
      } catch {
        // In use, or swept by another.
      }
    }
  }

  /** A new group, or undefined where this machine does not let us make one. */
  static create(most: number): PidsCgroup | undefined {
    const hierarchy = findHierarchy()
    if (hierarchy === undefined) return undefined
    const folder = join(hierarchy.root, `tooldex-${process.pid}-${randomBytes(6).toString('hex')}`)
    try {
      mkdirSync(folder)
    } catch {
      return undefined
    }
    try {
      writeFileSync(join(folder, 'pids.max'), String(most))
      return new PidsCgroup(hierarchy, folder)
    } catch {
      rmdirSync(folder)
      return undefined
    }
  }

  /** Starts something that is in the group from birth. Moved in later, it would have had time to fork. */
  born<T>(start: () => T): T {
    const { root, entry } = this.#hierarchy
    writeFileSync(join(this.#folder, entry), '0')
    try {
      return start()
    } finally {
      writeFileSync(join(root, this.#home, entry), '0')
    }
  }

  /** Removes the group; one whose last processes are still being reaped is tried again a little later. */
  remove(tries = 20): void {
    try {
      rmdirSync(this.#folder)
    } catch {
      if (tries > 0) setTimeout(() => this.remove(tries - 1), 50).unref()
    }
  }
}
