import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

// Where the pids controller is mounted, version 1 and 2. Root is not bound by RLIMIT_NPROC, so this is what stops a fork bomb.
const parents = ['/sys/fs/cgroup/pids', '/sys/fs/cgroup']

/** A control group that bounds how many processes and threads one call may have. */
export class PidsCgroup {
  static #count = 0
  readonly #folder: string

  private constructor(folder: string) {
    this.#folder = folder
  }

  /** A new group, or undefined where this machine does not let us make one. */
  static create(most: number): PidsCgroup | undefined {
    const parent = parents.find((folder) => existsSync(join(folder, 'cgroup.procs')))
    if (parent === undefined) return undefined
    const folder = join(parent, `tooldex-${process.pid}-${PidsCgroup.#count++}`)
    try {
      mkdirSync(folder)
    } catch {
      return undefined
    }
    try {
      writeFileSync(join(folder, 'pids.max'), String(most))
      return new PidsCgroup(folder)
    } catch {
      rmdirSync(folder)
      return undefined
    }
  }

  add(pid: number): void {
    try {
      writeFileSync(join(this.#folder, 'cgroup.procs'), String(pid))
    } catch {
      // The process ended before it could be moved.
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
