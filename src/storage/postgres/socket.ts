import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'

// The time for a lost transaction to send its next statement, and then to roll back.
const noticeMs = 30_000
const giveUpMs = 250

/** An error of a connection; the driver and the guard branch on its code. */
export function createSocketError(code: string, message: string): Error & { code: string } {
  return Object.assign(new Error(message), { code })
}

/**
 * A socket for the driver. It ends where a response takes too long, which a half-open connection would hide for
 * minutes; and it stays until a transaction on it has rolled back, because the driver writes to the socket of a lost transaction, and
 * without a socket the process would end.
 */
export class DatabaseSocket extends EventEmitter {
  readonly #responseMs: number
  readonly #watch = new ResponseWatch()
  readonly #buffered: [chunk: Uint8Array, done: (() => void) | undefined][] = []
  #raw: Socket | undefined
  #lost: Error | undefined
  #closed = false
  #ending = false
  #begun = false
  #responseTimer: NodeJS.Timeout | undefined
  #notice: NodeJS.Timeout | undefined
  #closeAt = Number.POSITIVE_INFINITY

  constructor(answerMs: number) {
    super()
    this.#responseMs = answerMs
  }

  get readyState(): string {
    if (this.#closed) return 'closed'
    return this.#raw === undefined || this.#lost !== undefined ? 'opening' : 'open'
  }

  /** Attaches the connected socket and sends the buffered writes. */
  attach(raw: Socket): void {
    if (raw.destroyed) this.lose(createSocketError('CONNECTION_CLOSED', 'the server closed the connection'))
    if (this.#lost !== undefined) return void raw.destroy()
    this.#raw = raw
    raw.on('data', (chunk: Buffer) => this.#receive(chunk))
    raw.on('drain', () => this.emit('drain'))
    raw.on('error', (error) => this.lose(error))
    raw.on('close', () => this.lose(createSocketError('CONNECTION_CLOSED', 'the server closed the connection')))
    for (const [chunk, done] of this.#buffered.splice(0)) raw.write(chunk, done)
  }

  write(chunk: Uint8Array, done?: () => void): boolean {
    this.#watch.sent()
    if (this.#lost !== undefined) this.#rejectWrite(this.#lost)
    else if (this.#raw === undefined) this.#buffer(chunk, done)
    else {
      this.#expectResponse()
      return this.#raw.write(chunk, done)
    }
    return true
  }

  end(chunk: Uint8Array): void {
    this.#ending = true
    this.#raw?.end(chunk)
  }

  /** Closes at once, because no more writes follow. */
  destroy(): void {
    this.#ending = true
    this.lose(createSocketError('CONNECTION_DESTROYED', 'the connection was closed by this process'))
  }

  setKeepAlive(enable: boolean, delayMs: number): void {
    this.#raw?.setKeepAlive(enable, delayMs)
  }

  /** Emits the error first; closes when no more writes are expected. */
  lose(error: Error): void {
    if (this.#lost !== undefined) return
    this.#lost = error
    clearTimeout(this.#responseTimer)
    this.#raw?.destroy()
    if (!this.#ending) this.#emitError(error)
    this.#closeAfter({ none: 0, waiting: giveUpMs, idle: noticeMs }[this.#watch.transaction])
  }

  /** The first write is the startup message, because the driver writes it before the connection is established. */
  #buffer(chunk: Uint8Array, done: (() => void) | undefined): void {
    this.#buffered.push([this.#buffered.length === 0 ? cutToStartup(chunk) : chunk, done])
  }

  #receive(chunk: Buffer): void {
    if (!this.#begun && !beginsLikePostgres(chunk))
      this.lose(createSocketError('NOT_POSTGRES', 'the server does not use the PostgreSQL protocol'))
    if (this.#lost !== undefined) return
    this.#begun = true
    // The driver would assign the error to the last query of the previous connection, or to the first of the next one.
    const refusal = this.#watch.ready ? readTermination(chunk) : findServerError(chunk)
    if (refusal !== undefined) this.lose(createSocketError(refusal.code, refusal.message))
    if (this.#lost !== undefined) return
    if (this.#watch.received(chunk)) {
      clearTimeout(this.#responseTimer)
      this.#responseTimer = undefined
    } else this.#expectResponse()
    this.emit('data', chunk)
  }

  #expectResponse(): void {
    if (this.#responseTimer !== undefined || !Number.isFinite(this.#responseMs)) return
    const lose = () => this.lose(createSocketError('ETIMEDOUT', 'the server did not respond in time'))
    // A process that was itself delayed first reads the data that has arrived meanwhile.
    const late = () => setImmediate(() => this.#responseTimer === timer && lose())
    const timer = setTimeout(late, this.#responseMs).unref()
    this.#responseTimer = timer
  }

  #rejectWrite(error: Error): void {
    setImmediate(() => this.#emitError(error))
    this.#closeAfter(giveUpMs)
  }

  #emitError(error: Error): void {
    if (this.listenerCount('error') > 0) this.emit('error', error)
  }

  /** A rejected writer may write once more, to roll back; further writes do not extend the time. */
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

const readyForQuery = 'Z'.charCodeAt(0)
const headerBytes = 5
const idle = 'I'.charCodeAt(0)
// The server sends these at any time: a notification, a notice, a changed parameter. None of them begins a response.
const unrequested = new Set(['A', 'N', 'S'].map((type) => type.charCodeAt(0)))

/** Tracks from the messages of a connection whether a response is outstanding and whether a transaction is open. */
class ResponseWatch {
  /** The start of a message whose type, length and state are not complete. */
  #begun: Buffer = Buffer.alloc(0)
  /** The bytes of the current message that have not arrived. */
  #missing = 0
  #outstanding = false
  #inside = false
  #ready = false

  /** Whether the server has accepted the connection. */
  get ready(): boolean {
    return this.#ready
  }

  /** Whether a transaction is open, and whether it waits for a response or for the next statement. */
  get transaction(): 'none' | 'waiting' | 'idle' {
    if (!this.#inside) return 'none'
    return this.#outstanding ? 'waiting' : 'idle'
  }

  sent(): void {
    this.#outstanding = true
  }

  /** Records received bytes; true where the server is ready for the next query, so that nothing is outstanding. */
  received(chunk: Buffer): boolean {
    const bytes = this.#begun.length === 0 ? chunk : Buffer.concat([this.#begun, chunk])
    let at = this.#missing
    while (at + headerBytes + (bytes[at] === readyForQuery ? 1 : 0) <= bytes.length) {
      this.#receivedMessage(bytes, at)
      at += 1 + bytes.readUInt32BE(at + 1)
    }
    this.#missing = Math.max(0, at - bytes.length)
    this.#begun = bytes.subarray(Math.min(at, bytes.length))
    return !this.#outstanding
  }

  #receivedMessage(bytes: Buffer, at: number): void {
    const type = bytes[at] ?? 0
    if (unrequested.has(type)) return
    this.#outstanding = type !== readyForQuery
    if (this.#outstanding) return
    this.#inside = bytes[at + headerBytes] !== idle
    this.#ready = true
  }
}

const errorResponse = 'E'.charCodeAt(0)

/** The error of a server that rejects or ends a connection. */
interface ServerError {
  readonly code: string
  readonly message: string
}

const firstMessages = new Set(['R', 'E', 'N', 'v'].map((type) => type.charCodeAt(0)))

/** Whether the first byte of a connection is the type of a message that PostgreSQL begins with. */
const beginsLikePostgres = (chunk: Buffer): boolean => firstMessages.has(chunk[0] ?? 0)

/** The error of a rejected connection, where a chunk contains one; each message has a type byte, a length and a body. */
function findServerError(chunk: Buffer): ServerError | undefined {
  for (let at = 0; at + 5 <= chunk.length; ) {
    const end = at + 1 + chunk.readUInt32BE(at + 1)
    if (end <= at + 4) return undefined
    if (chunk[at] === errorResponse) return readFields(chunk.subarray(at + 5, end))
    at = end
  }
  return undefined
}

/** The error that ends an established connection, where a chunk consists of one. */
function readTermination(chunk: Buffer): ServerError | undefined {
  if (chunk[0] !== errorResponse || chunk.length < 5 || chunk.readUInt32BE(1) !== chunk.length - 1) return undefined
  const { severity, ...refusal } = readFields(chunk.subarray(5))
  return severity === 'FATAL' || severity === 'PANIC' ? refusal : undefined
}

function readFields(body: Buffer): ServerError & { readonly severity?: string | undefined } {
  const fields = body.toString('utf8').split('\0')
  const find = (type: string) => fields.find((field) => field.startsWith(type))?.slice(1)
  return {
    severity: find('V'),
    code: find('C') ?? '08004',
    message: find('M') ?? 'the server rejected the connection',
  }
}

// The driver writes at once from this many bytes, and buffers shorter messages.
const bufferedBytes = 1024
const protocolVersion = 3 << 16

/**
 * Pads the startup message of a URL so that the driver writes it at once. It may buffer a shorter one forever: when a connection is
 * lost while something is buffered for it, the driver never writes that, and waits on the next connection as if it would.
 */
export function padStartup(url: string): string {
  const at = url.indexOf('?')
  const query = new URLSearchParams(url.slice(at + 1))
  // The server skips spaces between options.
  query.set('options', `${query.get('options') ?? ''}${' '.repeat(bufferedBytes)}`)
  return `${url.slice(0, at)}?${query}`
}

/** Removes data that the driver had buffered for the previous connection before the startup message; returns other chunks unchanged. */
export function cutToStartup(chunk: Uint8Array): Uint8Array {
  const view = new DataView(chunk.buffer, chunk.byteOffset, chunk.byteLength)
  for (let at = 0; at + 8 <= chunk.length; at++)
    if (view.getInt32(at) === chunk.length - at && view.getInt32(at + 4) === protocolVersion) return chunk.subarray(at)
  return chunk
}
