import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { findMarked } from './find-marked.ts'
import { PidsCgroup } from './pids-cgroup.ts'

/** How the processes of a call are kept together, so that none outlives it. */
export interface Containment {
  readonly kind: 'pid-namespace' | 'process-group'
  start(processes: number): Cell
}

/** The processes of one call. */
export interface Cell {
  /** The words to run instead of a program's own. */
  wrap(program: string, args: readonly string[]): readonly [string, readonly string[]]
  readonly env: Readonly<Record<string, string>>
  enter(pid: number): void
  /** Signals everything in it; 'left' also finds what moved out of the process group. */
  kill(pid: number, signal: 'SIGTERM' | 'SIGKILL'): void
  close(): void
}

/**
 * The strongest containment this machine gives without changing what programs see. A PID namespace needs privileges; the
 * unprivileged kind comes with a user namespace, in which sudo and rootless containers stop working, so it is not used.
 */
export function detectContainment(): Containment {
  const privileged = process.platform === 'linux' && process.geteuid?.() === 0
  return privileged && canUnshare() ? pidNamespace : processGroup
}

const unshareArgs = ['--pid', '--fork', '--kill-child=KILL', '--']

function canUnshare(): boolean {
  return spawnSync('unshare', [...unshareArgs, 'true'], { timeout: 2000, stdio: 'ignore' }).status === 0
}

const pidNamespace: Containment = {
  kind: 'pid-namespace',
  start(processes) {
    const cgroup = PidsCgroup.create(processes)
    return {
      wrap: (program, args) => ['unshare', [...unshareArgs, program, ...args]],
      env: {},
      enter: (pid) => cgroup?.add(pid),
      // The polite signal goes to the group; unshare itself ignores it. Killing unshare ends the namespace with all in it.
      kill: killGroup,
      close: () => cgroup?.remove(),
    }
  },
}

const processGroup: Containment = {
  kind: 'process-group',
  start() {
    const mark = randomUUID()
    return {
      wrap: (program, args) => [program, args],
      env: { [markName]: mark },
      enter() {},
      kill(pid, signal) {
        killGroup(pid, signal)
        if (signal === 'SIGKILL') for (const left of findMarked(`${markName}=${mark}`, pid)) killOne(left)
      },
      close() {},
    }
  },
}

const markName = 'TOOLDEX_RUN_ID'

function killGroup(pid: number, signal: NodeJS.Signals): void {
  killOne(-pid, signal)
}

function killOne(pid: number, signal: NodeJS.Signals = 'SIGKILL'): void {
  try {
    process.kill(pid, signal)
  } catch {
    // Gone already, which is what was wanted.
  }
}
