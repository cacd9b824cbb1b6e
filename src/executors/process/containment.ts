import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import type { Readable, Writable } from 'node:stream'
import { processEnv } from '../../rules/settings.ts'
import { helperEnvironment } from './base-environment.ts'
import { findProgram } from './find-program.ts'
import { PidsCgroup } from './pids-cgroup.ts'
import { createProcessGroups } from './process-group.ts'
import { descendantsOfProcess, isOwnProc, readChildProcesses, signalProcess } from './process-tree.ts'

/** A mechanism that groups the processes of a call, so that none outlives it. */
export interface Containment {
  readonly kind: 'pid-namespace' | 'process-group'
  /** The scope of one call, with a maximum number of processes if the machine can enforce one. */
  start(processes: number): Promise<ProcessScope>
}

/** The processes of one call. */
export interface ProcessScope {
  /** The program and arguments to start instead. */
  wrap(program: string, args: readonly string[]): readonly [string, readonly string[]]
  readonly env: Readonly<Record<string, string>>
  /** The stdio entries after stdin, stdout and stderr. */
  readonly streams?: readonly ('pipe' | 'ignore' | number)[] | undefined
  /** The user of the program, if it is not the user of this process. */
  readonly user?: { readonly uid: number; readonly gid: number } | undefined
  /** A process of the call that is started already and waits for its input. */
  readonly waiting?: ChildProcess | undefined
  /** Called with the process right after its start. */
  opened?(child: ChildProcess): void
  /** Starts a process that belongs to the call from its first moment. */
  spawnInside<T>(start: () => T): T
  /** Registers the program, so that it ends with this process even if that is killed. */
  started?(pid: number): void
  /** Signals the program and its children; SIGKILL also reaches its detached descendants. */
  kill(pid: number, signal: 'SIGTERM' | 'SIGKILL'): void
  /** Ends the processes that the program left behind. */
  sweep(pid: number): void
  /** Resolves when no process of the call is left. */
  close(): Promise<void>
}

/**
 * The strongest containment that this machine supports without changing the view of programs. A PID namespace needs privileges; the
 * unprivileged kind comes with a user namespace, in which sudo and rootless containers stop working, so it is not used.
 */
export function detectContainment(): Containment {
  const privileged = process.platform === 'linux' && process.geteuid?.() === 0
  return privileged && isOwnProc() && canEnterNamespaces() ? createPidNamespaces() : createProcessGroups()
}

/** The containment of a given kind, without detection. */
export function createContainment(kind: Containment['kind']): Containment {
  return kind === 'pid-namespace' ? createPidNamespaces() : createProcessGroups()
}

const trial = 'unshare --pid --fork -- nsenter --pid=/proc/self/ns/pid -- cat'
const exhausted = ['EMFILE', 'ENFILE', 'EAGAIN', 'ENOMEM']

function canEnterNamespaces(): boolean {
  // Without this file, orphans cannot be found.
  if (!existsSync(`/proc/${process.pid}/task/${process.pid}/children`)) return false
  const [program = '', ...args] = trial.split(' ')
  const { status, error } = spawnSync(program, args, {
    timeout: 2000,
    stdio: 'ignore',
    env: helperEnvironment(),
  })
  // A temporary shortage is no evidence of a missing feature: never fall back to a weaker containment because of it.
  if (exhausted.includes((error as NodeJS.ErrnoException | undefined)?.code ?? '')) throw error
  return status === 0
}

/** The maximum number of idle namespaces; each costs two sleeping processes. */
const maxIdle = 8

/**
 * A PID namespace for each call, so that no process can escape. An empty namespace is reused.
 *
 *   tooldex ─┬─ unshare ── cat        the namespace's first process
 *            └─ nsenter ── program    nsenter ends as the program ended
 */
function createPidNamespaces(): Containment {
  const idle: NamespaceInit[] = []
  const nsenter = findProgram('nsenter', processEnv, '/')
  PidsCgroup.sweep()
  return {
    kind: 'pid-namespace',
    async start(processes) {
      const init = takeAlive(idle) ?? (await NamespaceInit.start())
      const cgroup = PidsCgroup.create(processes)
      return {
        wrap: (program, args) => [nsenter, [`--pid=${init.file}`, '--', program, ...args]],
        env: {},
        spawnInside: (start) => (cgroup === undefined ? start() : cgroup.spawnInside(start)),
        kill: (pid, signal) => killIn(init, pid, signal),
        sweep() {
          if (init.hasOrphans()) init.end()
        },
        async close() {
          if (init.alive && idle.length < maxIdle) idle.push(init)
          else {
            init.end()
            await init.ended
          }
          // The call does not wait for the removal of an empty group.
          if (cgroup !== undefined) setImmediate(() => cgroup.remove())
        },
      }
    },
  }
}

function takeAlive(idle: NamespaceInit[]): NamespaceInit | undefined {
  for (let init = idle.pop(); init !== undefined; init = idle.pop()) if (init.alive) return init
  return undefined
}

function killIn(init: NamespaceInit, pid: number, signal: Parameters<ProcessScope['kill']>[1]): void {
  // SIGTERM is not sent to nsenter, which would end before the program has handled the signal.
  for (const target of signal === 'SIGKILL' ? [-pid] : descendantsOfProcess(pid)) signalProcess(target, signal)
  if (signal === 'SIGKILL') init.end()
}

/**
 * The first process of a PID namespace: a `cat` that waits for the end of a pipe from this process. When it ends, the kernel
 * kills everything else in the namespace. The program of a call cannot be the first process, because the kernel ignores
 * unhandled signals to it, even its own, and because a program that changes its user would no longer end with this process.
 */
class NamespaceInit {
  readonly #parent: ChildProcess
  readonly #pipe: Writable
  #first: number | undefined
  /** Settles when the namespace is empty: the kernel does not reap its first process before that. */
  readonly ended: Promise<unknown>

  private constructor(parent: ChildProcess, ended: Promise<unknown>) {
    this.#parent = parent
    this.#pipe = parent.stdin as Writable
    this.ended = ended
    // An idle namespace does not keep this process alive.
    parent.unref()
    ;(this.#pipe as Writable & { unref(): void }).unref()
  }

  static async start(): Promise<NamespaceInit> {
    const parent = spawn(findProgram('unshare', processEnv, '/'), ['--pid', '--fork', '--', 'cat'], {
      detached: true,
      cwd: '/',
      env: helperEnvironment(),
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    if (parent.pid === undefined) {
      const [error] = await once(parent, 'error')
      throw error
    }
    const ended = once(parent, 'exit')
    await waitForEcho(parent, ended)
    return new NamespaceInit(parent, ended)
  }

  /** The file through which the namespace is entered. */
  get file(): string {
    return `/proc/${this.#parent.pid}/ns/pid_for_children`
  }

  get alive(): boolean {
    return !this.#pipe.destroyed && this.#parent.exitCode === null && this.#parent.signalCode === null
  }

  /** Whether an ended program left processes behind: its orphans, zombies included, are children of the first process. */
  hasOrphans(): boolean {
    try {
      this.#first ??= readChildProcesses(this.#parent.pid as number)[0]
      return this.#first === undefined || readChildProcesses(this.#first).length > 0
    } catch {
      // If the children cannot be read, assume that there are some.
      return true
    }
  }

  end(): void {
    this.#parent.ref()
    this.#pipe.destroy()
  }
}

/** The echo proves that the namespace exists: entering it too early would enter the current one. */
async function waitForEcho(parent: ChildProcess, ended: Promise<unknown>): Promise<void> {
  const [pipe, echo] = [parent.stdin as Writable, parent.stdout as Readable]
  pipe.on('error', () => {})
  pipe.write('\n')
  const ready = await Promise.race([once(echo, 'data'), ended.then(() => undefined)])
  echo.destroy()
  if (ready === undefined) throw Object.assign(new Error('unshare could not fork'), { code: 'EAGAIN' })
}
