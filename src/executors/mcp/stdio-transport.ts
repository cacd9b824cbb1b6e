import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { type JSONRPCMessage, parseJSONRPCMessage, type Transport } from '@modelcontextprotocol/client'
import { parseExactNumbers } from '../../base/exact-numbers.ts'
import { toOneLine } from '../../base/invisible-characters.ts'
import { LineSplitter } from '../../base/line-splitter.ts'
import type { ProcessScope } from '../process/containment.ts'
import type { LineEnd, MessageCheck } from './message-check.ts'
import { PacedDelivery } from './message-check.ts'
import { maxMessageHere, reduceMessage, withResult } from './message-threads.ts'

/** A program to start, already found. */
export interface ServerProgram {
  readonly program: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
}

const graceMs = 500
const maxStderrBytes = 4096

/** The server ended before it received a message whole, so it did not act on it. */
export class UndeliveredError extends Error {
  constructor() {
    super('The server has ended.')
  }
}

/** The transport of a server that runs as a child process: JSON lines in and out; closing it ends all processes. */
export class StdioTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: Transport['onmessage']
  /** The client takes these two fields as the sign of a stdio server, which may not support its first request. */
  readonly stderr = null
  pid: number | null = null
  readonly sessionId = undefined
  /** The reason of an unexpected end. */
  why: string | undefined
  end: LineEnd | undefined
  readonly #server: ServerProgram
  readonly #scope: ProcessScope
  readonly #check: MessageCheck
  #child: ChildProcess | undefined
  #stderrTail = Buffer.alloc(0)
  readonly #lines: Buffer<ArrayBuffer>[] = []
  #isReading = false
  #reading: Promise<void> | undefined
  readonly #delivery = new PacedDelivery((message) => this.onmessage?.(message))
  #closing: Promise<void> | undefined
  /** Settles when the last output of an ended server was read. */
  #drained: Promise<void> | undefined
  /** Settles when all messages so far were written, or were not. */
  #sent: Promise<unknown> = Promise.resolve()

  constructor(server: ServerProgram, scope: ProcessScope, check: MessageCheck) {
    this.#server = server
    this.#scope = scope
    this.#check = check
  }

  async start(): Promise<void> {
    const { program, args, cwd, env } = this.#server
    const [file, argv] = this.#scope.wrap(program, args)
    const child = this.#scope.spawnInside(() =>
      spawn(file, argv, {
        cwd,
        env: { ...env, ...this.#scope.env },
        detached: true,
        stdio: ['pipe', 'pipe', 'pipe', ...(this.#scope.streams ?? [])],
        ...this.#scope.user,
      }),
    )
    if (child.pid === undefined) {
      const [error] = await once(child, 'error')
      await this.#scope.close()
      throw error
    }
    this.#child = child
    this.pid = child.pid
    this.#scope.started?.(child.pid)
    this.#scope.opened?.(child)
    this.#listen(child)
  }

  #listen(child: ChildProcess): void {
    const { messageBytes: maxBytes } = this.#check.limits
    const lines = new LineSplitter({
      maxBytes,
      onLine: (line) => this.#take(line),
      onTooLong: () => this.fail(`sent a message of more than ${maxBytes} bytes`, 'oversized-message'),
    })
    child.stdout?.on('data', (chunk: Buffer) => lines.push(chunk)).on('error', () => {})
    child.stderr?.on('data', (chunk: Buffer) => this.#keepTail(chunk)).on('error', () => {})
    child.stdin?.on('error', () => {})
    child.once('exit', (code, signal) => {
      this.end ??= 'exited'
      const how = `ended ${signal === null ? `with exit code ${code}` : `by ${signal}`}`
      const isReason = this.why === undefined
      this.why ??= `${how}${this.#describeStderr()}`
      // The last output may still be in the pipe.
      const drained = Promise.race([once(child, 'close'), sleep(graceMs, undefined, { ref: false })])
      this.#drained = drained.then(() => {
        if (isReason) this.why = `${how}${this.#describeStderr()}`
      })
      void this.#drained.then(() => this.#reading).then(() => this.close())
    })
  }

  #take(line: Buffer<ArrayBuffer>): void {
    if (this.end === 'oversized-message') return
    this.#lines.push(line)
    if (!this.#isReading) this.#reading = this.#read()
  }

  /** Reads lines in their order; no further ones are received while a worker thread reads a long one. */
  async #read(): Promise<void> {
    this.#isReading = true
    for (let line = this.#lines.shift(); line !== undefined; line = this.#lines.shift()) {
      if (line.length <= maxMessageHere) {
        const text = line.toString('utf8').trim()
        if (text !== '') this.#accept(() => [parseExactNumbers(text)])
        continue
      }
      this.#child?.stdout?.pause()
      const reduced = await reduceMessage(line, { maxItems: this.#check.limits.items }).catch(() => undefined)
      this.#child?.stdout?.resume()
      this.#accept(() => reduced?.messages.map(withResult) ?? [])
    }
    this.#isReading = false
  }

  /** Delivers messages; input without a valid one is counted. */
  #accept(read: () => readonly unknown[]): void {
    let messages: readonly JSONRPCMessage[] = []
    try {
      messages = read().map((message) => parseJSONRPCMessage(message))
    } catch {
      // Counted below.
    }
    if (messages.length === 0) this.#check.refuse()
    for (const message of messages) {
      if (this.#closing !== undefined) return
      this.#check.takeLog(message)
      if (this.#check.accepts(message)) this.#delivery.push(message)
    }
  }

  #keepTail(chunk: Buffer): void {
    const both = chunk.length >= maxStderrBytes ? chunk : Buffer.concat([this.#stderrTail, chunk])
    this.#stderrTail = Buffer.from(both.subarray(-maxStderrBytes))
  }

  /** The last line that names an error, because a stack trace or an object may follow it; otherwise the last lines. */
  #describeStderr(): string {
    const lines = this.#stderrTail
      .toString('utf8')
      .split('\n')
      .map((line) => line.trim())
    const written = lines.filter((line) => line !== '')
    const text = written.findLast((line) => /\b\w*(error|exception)\b.*:/i.test(line)) ?? written.slice(-3).join(' ')
    return text === '' ? '' : `; stderr: ${toOneLine(text.slice(0, 500))}`
  }

  /** Closes the connection to a misbehaving server. */
  fail(why: string, end: LineEnd = 'failed'): void {
    this.end ??= end
    this.why ??= why
    void this.close()
  }

  /** Rejects if the message did not reach the server whole. One is written after the other, so that each has an error of its own. */
  send(message: JSONRPCMessage): Promise<void> {
    const sending = this.#sent.then(() => this.#write(message))
    this.#sent = sending.catch(() => {})
    return sending
  }

  async #write(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#child?.stdin
    if (!stdin?.writable || this.#closing !== undefined) throw new UndeliveredError()
    this.#check.sent(message)
    const text = `${JSON.stringify(message)}\n`
    await new Promise<void>((resolve, reject) => {
      stdin.write(text, (error) => (error ? reject(new UndeliveredError()) : resolve()))
    })
  }

  /** Ends the server, with SIGTERM before SIGKILL; afterwards no process of it is left. */
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
      this.#scope.kill(child.pid, 'SIGTERM')
      await Promise.race([exited, sleep(graceMs)])
      this.#scope.kill(child.pid, 'SIGKILL')
      await exited
    }
    this.#scope.sweep(child.pid)
    await this.#drained
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy()
    await this.#scope.close()
    // A request that was not delivered fails for this reason, not for the end of the connection.
    await this.#sent
    await nextTurn()
  }
}
