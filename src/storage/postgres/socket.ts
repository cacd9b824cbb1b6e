import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { ResponseWatch } from './response-watch.ts'
import { findServerError, readTermination } from './server-errors.ts'
import { cutToStartup } from './startup-message.ts'

// How long a lost transaction may take to notice it by its next statement, and how long it may then take to give up.
const noticeMs = 30_000
const giveUpMs = 250

/** What goes wrong on a line; the code is what the driver and the guard know failures by. */
export function socketError(code: string, message: string): Error & { code: string } {
  return Object.assign(new Error(message), { code })
}

/**
 * A line to the server as the driver uses one. It ends where an answer takes too long, which a half-open line would hide for
 * minutes; and it stays until a transaction on it has given up, because the driver writes to the line of a lost transaction, and
 * where there is none any more the process would end.
 */
export class DatabaseSocket extends EventEmitter {
  readonly #answerMs: number
  readonly #watch = new ResponseWatch()
  readonly #waiting: [chunk: Uint8Array, done: (() => void) | undefined][] = []
  #raw: Socket | undefined
  #lost: Error | undefined
  #closed = false
  #ending = false
  #answer: NodeJS.Timeout | undefined
  #notice: NodeJS.Timeout | undefined
  #closeAt = Number.POSITIVE_INFINITY

  constructor(answerMs: number) {
    super()
    this.#answerMs = answerMs
  }

  get readyState(): string {
    if (this.#closed) return 'closed'
    return this.#raw === undefined || this.#lost !== undefined ? 'opening' : 'open'
  }

  /** The connection is made: what was written meanwhile goes out. */
  attach(raw: Socket): void {
    if (raw.destroyed) this.lose(socketError('CONNECTION_CLOSED', 'the server closed the connection'))
    if (this.#lost !== undefined) return void raw.destroy()
    this.#raw = raw
    raw.on('data', (chunk: Buffer) => this.#receive(chunk))
    raw.on('drain', () => this.emit('drain'))
    raw.on('error', (error) => this.lose(error))
    raw.on('close', () => this.lose(socketError('CONNECTION_CLOSED', 'the server closed the connection')))
    for (const [chunk, done] of this.#waiting.splice(0)) raw.write(chunk, done)
  }

  write(chunk: Uint8Array, done?: () => void): boolean {
    this.#watch.sent()
    if (this.#lost !== undefined) this.#refuse(this.#lost)
    else if (this.#raw === undefined) this.#wait(chunk, done)
    else {
      this.#expectAnswer()
      return this.#raw.write(chunk, done)
    }
    return true
  }

  end(chunk: Uint8Array): void {
    this.#ending = true
    this.#raw?.end(chunk)
  }

  /** Nobody will write any more, so that nobody is waited for. */
  destroy(): void {
    this.#ending = true
    this.lose(socketError('CONNECTION_DESTROYED', 'the connection was given up'))
  }

  setKeepAlive(enable: boolean, delayMs: number): void {
    this.#raw?.setKeepAlive(enable, delayMs)
  }

  /** Whoever waits hears of it first; the line is closed when nobody will write any more. */
  lose(error: Error): void {
    if (this.#lost !== undefined) return
    this.#lost = error
    clearTimeout(this.#answer)
    this.#raw?.destroy()
    if (!this.#ending) this.#tell(error)
    this.#closeAfter({ none: 0, asking: giveUpMs, thinking: noticeMs }[this.#watch.transaction])
  }

  /** What comes first is the startup message, for the driver writes it before anything can be connected. */
  #wait(chunk: Uint8Array, done: (() => void) | undefined): void {
    this.#waiting.push([this.#waiting.length === 0 ? cutToStartup(chunk) : chunk, done])
  }

  #receive(chunk: Buffer): void {
    // The driver would put it down to the last query of the line before, or to the first of the line after.
    const refusal = this.#watch.ready ? readTermination(chunk) : findServerError(chunk)
    if (refusal !== undefined) this.lose(socketError(refusal.code, refusal.message))
    if (this.#lost !== undefined) return
    if (this.#watch.received(chunk)) {
      clearTimeout(this.#answer)
      this.#answer = undefined
    } else this.#expectAnswer()
    this.emit('data', chunk)
  }

  #expectAnswer(): void {
    if (this.#answer !== undefined || !Number.isFinite(this.#answerMs)) return
    const lose = () => this.lose(socketError('ETIMEDOUT', 'the server took too long to answer'))
    // A process that was itself held up first reads what has come meanwhile.
    const late = () => setImmediate(() => this.#answer === timer && lose())
    const timer = setTimeout(late, this.#answerMs).unref()
    this.#answer = timer
  }

  #refuse(error: Error): void {
    setImmediate(() => this.#tell(error))
    this.#closeAfter(giveUpMs)
  }

  #tell(error: Error): void {
    if (this.listenerCount('error') > 0) this.emit('error', error)
  }

  /** Whoever was just refused may write once more, to roll back; who goes on writing does not keep it. */
  #closeAfter(ms: number): void {
    const closeAt = performance.now() + (this.#ending ? 0 : ms)
    if (closeAt >= this.#closeAt) return
    this.#closeAt = closeAt
    clearTimeout(this.#notice)
    this.#notice = setTimeout(() => this.#close(), closeAt - performance.now())
  }

  #close(): void {
    if (this.#closed) return
    this.#closed = true
    this.emit('close', false)
  }
}
