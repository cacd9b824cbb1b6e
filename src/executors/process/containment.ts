import { type ChildProcess, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createPidNamespaces } from './pid-namespace.ts'
import { procIsOurs } from './proc-is-ours.ts'
import { createProcessGroups } from './process-group.ts'

/** How the processes of a call are kept together, so that none outlives it. */
export interface Containment {
  readonly kind: 'pid-namespace' | 'process-group'
  /** A place for one call, which may have this many processes where the machine lets us bound them. */
  start(processes: number): Promise<ProcessScope>
}

/** The processes of one call. */
export interface ProcessScope {
  /** The words to run instead of a program's own. */
  wrap(program: string, args: readonly string[]): readonly [string, readonly string[]]
  readonly env: Readonly<Record<string, string>>
  /** Streams after the three that every program has. */
  readonly streams?: readonly ('pipe' | 'ignore' | number)[] | undefined
  /** Who the program is started as, where that is not us. */
  readonly user?: { readonly uid: number; readonly gid: number } | undefined
  /** A process of the call that waits for its work already. */
  readonly waiting?: ChildProcess | undefined
  /** Called with the process as soon as there is one. */
  opened?(child: ChildProcess): void
  /** Starts something that belongs to the call from its first moment. */
  spawnInside<T>(start: () => T): T
  /** Says that the program runs, so that it ends with us even where we are killed. */
  started?(pid: number): void
  /** Signals the program and what it started; SIGKILL also reaches what it no longer has to do with. */
  kill(pid: number, signal: 'SIGTERM' | 'SIGKILL'): void
  /** Ends what the program left behind when it ended. */
  sweep(pid: number): void
  /** When this returns nothing of the call is left. */
  close(): Promise<void>
}

/**
 * The strongest containment this machine gives without changing what programs see. A PID namespace needs privileges; the
 * unprivileged kind comes with a user namespace, in which sudo and rootless containers stop working, so it is not used.
 */
export function detectContainment(): Containment {
  const privileged = process.platform === 'linux' && process.geteuid?.() === 0
  return privileged && procIsOurs() && canEnterNamespaces() ? createPidNamespaces() : createProcessGroups()
}

/** The containment of a kind, whatever the machine would choose itself. */
export function containmentOf(kind: Containment['kind']): Containment {
  return kind === 'pid-namespace' ? createPidNamespaces() : createProcessGroups()
}

const trial = 'unshare --pid --fork -- nsenter --pid=/proc/self/ns/pid -- cat'
const exhausted = ['EMFILE', 'ENFILE', 'EAGAIN', 'ENOMEM']

function canEnterNamespaces(): boolean {
  // Without it what a program left behind would not be seen.
  if (!existsSync(`/proc/${process.pid}/task/${process.pid}/children`)) return false
  const [program = '', ...args] = trial.split(' ')
  const { status, error } = spawnSync(program, args, {
    timeout: 2000,
    stdio: 'ignore',
    env: { PATH: process.env.PATH },
  })
  // A machine that is out of something for now says nothing about what it can do: never settle for less because of it.
  if (exhausted.includes((error as NodeJS.ErrnoException | undefined)?.code ?? '')) throw error
  return status === 0
}
