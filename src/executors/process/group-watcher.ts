import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import type { Writable } from 'node:stream'
import { programText } from './program-text.ts'

const script = programText('./group-watcher.sh', import.meta.url)

/** Ends the calls of this process after the process was killed: by a shell in a session of its own, so that signals to this process do not reach it. */
export class GroupWatcher {
  /** The mark in the environment of every process of every call. */
  readonly mark = randomBytes(12).toString('hex')
  #shell: ChildProcess | undefined

  /** Registers the process group of a running call. */
  started(group: number): void {
    this.#send(`+ ${group}\n`)
  }

  ended(group: number): void {
    this.#send(`- ${group}\n`)
  }

  /** Starts the shell before the first call, and again if it was killed. */
  ready(): void {
    if (this.#shell === undefined || this.#shell.exitCode !== null || this.#shell.signalCode !== null)
      this.#shell = this.#start()
  }

  #start(): ChildProcess {
    const shell = spawn('/bin/sh', ['-c', script(), this.mark], {
      detached: true,
      cwd: '/',
      env: { PATH: process.env.PATH },
      stdio: ['pipe', 'ignore', 'ignore'],
    })
    // Without a shell there is no watcher; calls that end normally are cleaned up all the same.
    shell.on('error', () => {})
    shell.stdin.on('error', () => {})
    shell.unref()
    ;(shell.stdin as Writable & { unref(): void }).unref()
    return shell
  }

  #send(line: string): void {
    if (this.#shell?.stdin?.writable) this.#shell.stdin.write(line)
  }
}
