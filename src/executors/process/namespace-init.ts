import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { processEnv } from '../../rules/settings.ts'
import { helperEnvironment } from './base-environment.ts'
import { findProgram } from './find-program.ts'
import { readChildren } from './process-tree.ts'

/**
 * The first process of a PID namespace: a `cat` that waits for the end of a pipe from this process. When it ends, the kernel
 * kills everything else in the namespace. The program of a call cannot be the first process, because the kernel ignores
 * unhandled signals to it, even its own, and because a program that changes its user would no longer end with this process.
 */
export class NamespaceInit {
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
      this.#first ??= readChildren(this.#parent.pid as number)[0]
      return this.#first === undefined || readChildren(this.#first).length > 0
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
