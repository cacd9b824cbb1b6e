import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { type JSONRPCMessage, parseJSONRPCMessage, type Transport } from '@modelcontextprotocol/client'
import { parseExactly } from '../../base/exact-numbers.ts'
import { toOneLine } from '../../base/visible-text.ts'
import type { ProcessScope } from '../process/containment.ts'
import { LineSplitter } from './line-splitter.ts'
import type { LineEnd, MessageCheck } from './message-check.ts'

/** A program to start, already found. */
export interface ServerProgram {
  readonly program: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
}

const graceMs = 500
const keptOfStderr = 4096

/** A server that is a process of ours: lines of JSON in and out, all of it gone when the line is closed. */
export class StdioTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: Transport['onmessage']
  /** By these two the client knows that a server may be older than its first question; nobody reads them. */
  readonly stderr = null
  pid: number | null = null
  readonly sessionId = undefined
  /** Why it ended, where it did so by itself. */
  why: string | undefined
  end: LineEnd | undefined
  readonly #server: ServerProgram
  readonly #cell: ProcessScope
  readonly #check: MessageCheck
  #child: ChildProcess | undefined
  #last = Buffer.alloc(0)
  readonly #waiting: JSONRPCMessage[] = []
  #resting = false
  #drained: Promise<void> | undefined
  #closing: Promise<void> | undefined

  constructor(server: ServerProgram, cell: ProcessScope, check: MessageCheck) {
    this.#server = server
    this.#cell = cell
    this.#check = check
  }

  async start(): Promise<void> {
    const { program, args, cwd, env } = this.#server
    const [file, words] = this.#cell.wrap(program, args)
    const child = this.#cell.spawnInside(() =>
      spawn(file, words, { cwd, env: { ...env, ...this.#cell.env }, detached: true, stdio: 'pipe' }),
    )
    if (child.pid === undefined) {
      const [error] = await once(child, 'error')
      await this.#cell.close()
      throw error
    }
    this.#child = child
    this.pid = child.pid
    this.#listen(child)
  }

  #listen(child: ChildProcess): void {
    const lines = new LineSplitter(
      this.#check.limits.messageBytes,
      (line) => this.#take(line),
      () => this.fail(`sent a message of more than ${this.#check.limits.messageBytes} bytes`, 'oversized-message'),
    )
    child.stdout?.on('data', (chunk: Buffer) => lines.push(chunk)).on('error', () => {})
    child.stderr?.on('data', (chunk: Buffer) => this.#keepLast(chunk)).on('error', () => {})
    child.stdin?.on('error', () => {})
    child.once('exit', (code, signal) => {
      this.end ??= 'exited'
      this.why ??= `ended ${signal === null ? `with exit code ${code}` : `by ${signal}`}${this.#lastWords()}`
      // What it said last may still be in the pipe.
      const drained = Promise.race([once(child, 'close'), sleep(graceMs, undefined, { ref: false })])
      void drained.then(() => this.close())
    })
  }

  #take(line: string): void {
    let message: JSONRPCMessage
    try {
      message = parseJSONRPCMessage(parseExactly(line))
    } catch {
      this.#check.refuse()
      return
    }
    if (this.#closing !== undefined || !this.#check.accepts(message)) return
    this.#waiting.push(message)
    if (!this.#resting) this.#hand()
  }

  /** The client takes notices a moment after it is handed them; an answer that overtook one would make it void. */
  #hand(): void {
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      this.onmessage?.(next)
      if (!('method' in next)) continue
      this.#resting = true
      setImmediate(() => {
        this.#resting = false
        this.#hand()
      })
      return
    }
  }

  #keepLast(chunk: Buffer): void {
    const both = chunk.length >= keptOfStderr ? chunk : Buffer.concat([this.#last, chunk])
    this.#last = Buffer.from(both.subarray(-keptOfStderr))
  }

  #lastWords(): string {
    const text = this.#last.toString('utf8').trim().split('\n').slice(-3).join('\n').slice(-500)
    return text === '' ? '' : `, saying: ${toOneLine(text)}`
  }

  /** Lets a server go that does what it should not. */
  fail(why: string, end: LineEnd = 'failed'): void {
    this.end ??= end
    this.why ??= why
    void this.close()
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#child?.stdin
    if (!stdin?.writable || this.#closing !== undefined) throw new Error('The server is gone.')
    this.#check.sent(message)
    const text = `${JSON.stringify(message)}\n`
    if (stdin.write(text)) return
    // All who wait listen together, and nobody is left listening.
    this.#drained ??= drainOf(stdin).finally(() => {
      this.#drained = undefined
    })
    await this.#drained
  }

  /** Ends the server, politely first; when this returns nothing of it is left. */
  close(): Promise<void> {
    this.#closing ??= this.#end().finally(() => this.onclose?.())
    return this.#closing
  }

  async #end(): Promise<void> {
    const child = this.#child
    if (child?.pid === undefined) return
    child.stdin?.end()
    if (child.exitCode === null && child.signalCode === null) {
      const exited = once(child, 'exit').catch(() => {})
      if (this.why === undefined) await Promise.race([exited, sleep(graceMs)])
      this.#cell.kill(child.pid, 'SIGTERM')
      await Promise.race([exited, sleep(graceMs)])
      this.#cell.kill(child.pid, 'SIGKILL')
      await exited
    }
    this.#cell.sweep(child.pid)
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy()
    await this.#cell.close()
  }
}

/** Resolves when a stream takes more, or never will. */
async function drainOf(stream: Writable): Promise<void> {
  const leaving = new AbortController()
  const { signal } = leaving
  await Promise.race([once(stream, 'drain', { signal }), once(stream, 'close', { signal })]).catch(() => {})
  leaving.abort()
}
