import { setTimeout as sleep } from 'node:timers/promises'
import type { CallToolResult } from '@modelcontextprotocol/client'
import { TooldexError } from '../../base/errors.ts'
import { Circuit, type CircuitSettings } from './circuit.ts'
import type { Connection, OpenedTransport, UpstreamCall } from './connection.ts'
import { describeFailure } from './describe-failure.ts'

/** How one server is kept. */
export interface UpstreamOptions {
  readonly name: string
  readonly connectMs: number
  readonly idleMs: number
  /** How long a server may take to show that it lives, after a call of it was too slow. */
  readonly pingMs: number
  readonly circuit: CircuitSettings
  readonly makeLine: () => Promise<OpenedTransport>
}

/** One server: started by its first call, stopped when nobody calls, started again when it fell over. */
export class Upstream {
  readonly #options: UpstreamOptions
  readonly circuit: Circuit
  #opening: Promise<Connection> | undefined
  #now: Connection | undefined
  #busy = 0
  #idle: NodeJS.Timeout | undefined
  #closed = false
  #retired = false

  constructor(options: UpstreamOptions) {
    this.#options = options
    this.circuit = new Circuit(options.circuit)
  }

  /** The connection that is open now. */
  get connection(): Connection | undefined {
    return this.#now
  }

  /** Calls a tool; one whose session the server forgot is called once more, because nothing was done. */
  async call(call: UpstreamCall, signal: AbortSignal): Promise<CallToolResult> {
    const work = (connection: Connection) => connection.call(call, signal)
    try {
      return await this.#use(work, signal)
    } catch (error) {
      if (error !== forgotten) throw error
      return this.#use(work, signal)
    }
  }

  listTools(signal: AbortSignal): Promise<readonly string[]> {
    return this.#use((connection) => connection.listTools(signal), signal)
  }

  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#idle)
    await (await this.#opening?.catch(() => undefined))?.close()
  }

  /** Closes it after the calls that use it have ended; no others are made. */
  retire(): void {
    this.#retired = true
    if (this.#busy === 0) void this.close()
  }

  async #use<T>(work: (connection: Connection) => Promise<T>, signal: AbortSignal): Promise<T> {
    clearTimeout(this.#idle)
    this.#busy++
    try {
      const connection = await this.#connected(signal)
      const given = await this.#watched(connection, work(connection), signal)
      this.circuit.answered()
      return given
    } finally {
      this.#busy--
      if (this.#busy === 0) this.#rest()
    }
  }

  /** Looks after the connection when a call of it goes wrong. */
  async #watched<T>(connection: Connection, work: Promise<T>, signal: AbortSignal): Promise<T> {
    try {
      return await work
    } catch (error) {
      if (signal.aborted) void this.#lookAfter(connection)
      else if (connection.why !== undefined) throw gone(this.#options.name, connection)
      else if (connection.isForgotten(error)) {
        await this.#drop(connection)
        throw forgotten
      } else if (isOutOfReach(error)) this.#giveUp(connection, describeFailure(error))
      else this.circuit.answered()
      throw error
    }
  }

  /** A call that took too long says nothing about the server; one that does not answer anything is let go. */
  async #lookAfter(connection: Connection): Promise<void> {
    if (connection.ended || (await connection.isAlive(this.#options.pingMs))) return
    this.#giveUp(connection, 'did not answer any more')
  }

  #giveUp(connection: Connection, why: string): void {
    if (this.#now === connection) this.circuit.failed(why)
    this.#forget(connection)
    connection.fail(why)
  }

  async #connected(signal: AbortSignal): Promise<Connection> {
    if (this.#now?.why !== undefined) this.#lost(this.#now)
    this.#refuseWhileDown()
    while (this.#opening === undefined && this.circuit.pauseMs > 0)
      await sleep(this.circuit.pauseMs, undefined, { signal })
    if (this.#closed) throw new TooldexError('SHUTTING_DOWN', 'The server is stopping.')
    this.#opening ??= this.#open()
    return untilAborted(this.#opening, signal)
  }

  #refuseWhileDown(): void {
    const until = this.circuit.refusedUntil
    if (until === undefined || this.#now !== undefined) return
    const { name } = this.#options
    const seconds = Math.max(1, Math.ceil(this.circuit.pauseMs / 1000))
    throw new TooldexError('UPSTREAM_DOWN', `The MCP server '${name}' is down: it ${this.circuit.why}.`, {
      hint: `It is tried again at ${until.toISOString()}, in ${seconds} s.`,
    })
  }

  async #open(): Promise<Connection> {
    let opened: Connection | undefined
    const onEnd = (): void => {
      if (opened !== undefined) this.#lost(opened)
    }
    try {
      // The client of the protocol is loaded by the first call that needs it.
      const { Connection } = await import('./connection.ts')
      opened = await Connection.open(this.#options.makeLine, this.#options.connectMs, onEnd)
      this.#now = opened
      if (opened.ended) this.#lost(opened)
      return opened
    } catch (error) {
      this.#opening = undefined
      this.circuit.failed(describeFailure(error))
      throw error
    }
  }

  /** One that ended in the middle of calls has failed; one that was only waiting may do so. */
  #lost(connection: Connection): void {
    if (this.#now !== connection) return
    if (connection.why !== undefined && this.#busy > 0) this.circuit.failed(connection.why)
    this.#forget(connection)
  }

  #forget(connection: Connection): void {
    if (this.#now !== connection) return
    this.#now = undefined
    this.#opening = undefined
  }

  async #drop(connection: Connection): Promise<void> {
    this.#forget(connection)
    await connection.close().catch(() => {})
  }

  #rest(): void {
    if (this.#retired) return void this.close()
    if (this.#now === undefined) return
    const connection = this.#now
    this.#idle = setTimeout(() => void this.#drop(connection), this.#options.idleMs)
    this.#idle.unref()
  }
}

/** Says that a call is to be made once more. */
const forgotten = new Error('The session is gone.')

const gone = (name: string, { end, why }: Connection): TooldexError =>
  new TooldexError(end === 'oversized-message' ? 'OUTPUT_LIMIT' : 'UPSTREAM_ERROR', `${name} ${why}.`)

/** Whether the server could not be reached, or is itself in trouble, rather than that it said no. */
function isOutOfReach(error: unknown): boolean {
  if (error instanceof TooldexError) return error.code === 'OUTPUT_LIMIT'
  const { status } = (error as { data?: { status?: number } }).data ?? {}
  return error instanceof TypeError || (status !== undefined && status >= 500)
}

/** Whoever does not want to wait any longer leaves; the work goes on for the others. */
function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = (): void => reject(signal.reason)
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave))
    if (signal.aborted) leave()
    else signal.addEventListener('abort', leave, { once: true })
  })
}
