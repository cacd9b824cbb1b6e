import { setTimeout as sleep } from 'node:timers/promises'
import { TooldexError } from '../../base/errors.ts'
import { lazyModule } from '../../base/lazy-module.ts'
import { untilAborted } from '../../base/until-aborted.ts'
import type { Readiness } from '../../contract/catalog.ts'
import type { McpServer, OfferMethod, OfferResult, UpstreamRequest } from '../../contract/mcp-server.ts'
import type { SourceItem, SourceManifest } from '../../contract/source.ts'
import { Circuit, type CircuitSettings } from './circuit.ts'
import { explainMissing, passRequests, usableInput } from './client-requests.ts'
import type { Connection, OpenedTransport, UpstreamCall, UpstreamResult } from './connection.ts'
import {
  describeFailure,
  isDenied,
  isUnreachable,
  needsSignIn,
  needsWiderScope,
  notRunning,
  type UpstreamAttempt,
} from './describe-failure.ts'

const maxDurations = 100
// The MCP client is loaded with the first call that needs it.
const loadConnection = lazyModule(() => import('./connection.ts'))
const loadReadItems = lazyModule(() => import('./read-items.ts'))

/** The settings of one server. */
export interface UpstreamOptions {
  readonly name: string
  readonly connectMs: number
  /** The requests of the server that are passed to the client of a call. */
  readonly clientRequests: McpServer['clientRequests']
  readonly idleMs: number
  /** The timeout of the ping after a call timed out. */
  readonly pingMs: number
  readonly circuit: CircuitSettings
  readonly openTransport: () => Promise<OpenedTransport>
  readonly onAttempt?: UpstreamAttempt | undefined
  /** Called when the server announces changed definitions. */
  readonly onListChanged?: (() => void) | undefined
}

/** What a request is repeated after: if the server did not receive it, or also if the server ended. */
type RepeatedAfter = 'never' | 'not-received' | 'ended'

/** One server: started by its first call, stopped when idle, restarted after a crash. */
export class Upstream {
  readonly #options: UpstreamOptions
  readonly circuit: Circuit
  #opening: Promise<Connection> | undefined
  #now: Connection | undefined
  #busy = 0
  #idle: NodeJS.Timeout | undefined
  #closed = false
  #retired = false
  readonly #durations: number[] = []
  /** The time of the last successful call. */
  #succeededAt: Date | undefined
  /** The reason why the server rejected the credentials of the last attempt, or why there are none. */
  #denied: string | undefined

  constructor(options: UpstreamOptions) {
    this.#options = options
    this.circuit = new Circuit(options.circuit)
  }

  /** The connection that is open now. */
  get connection(): Connection | undefined {
    return this.#now
  }

  /** The missing or rejected credential. */
  get denied(): string | undefined {
    return this.#denied
  }

  /** The last success and the 95th percentile of the recent calls. */
  get record(): Pick<Readiness, 'lastSuccessAt' | 'p95Ms'> {
    if (this.#succeededAt === undefined) return {}
    const sorted = this.#durations.toSorted((a, b) => a - b)
    const p95 = sorted[Math.ceil(sorted.length * 0.95) - 1] ?? 0
    return { lastSuccessAt: this.#succeededAt.toISOString(), p95Ms: Math.round(p95) }
  }

  async call(call: UpstreamCall, signal: AbortSignal): Promise<UpstreamResult> {
    const began = performance.now()
    const result = await this.#passing(call, (passed) =>
      this.#use((connection) => connection.call(passed, signal), signal, call.isRepeatable),
    )
    this.#succeededAt = new Date()
    this.#durations.push(performance.now() - began)
    if (this.#durations.length > maxDurations) this.#durations.shift()
    return result
  }

  /** Sends a request about prompts, resources or completions; undefined if the server does not offer them. */
  async request(method: OfferMethod, request: UpstreamRequest): Promise<OfferResult | undefined> {
    if (request.mayStart === false && this.#now === undefined) throw notRunning(this.#options.name)
    return this.#use(
      async (connection) => {
        if (!connection.has(capabilityOf(method))) return undefined
        const result = await this.#passing(request, (passed) => connection.request(method, passed))
        const { withItems } = await loadReadItems()
        return withItems(result, request.signal)
      },
      request.signal,
      true,
    )
  }

  async listTools(signal: AbortSignal): Promise<readonly SourceItem[]> {
    const { readItems } = await loadReadItems()
    return this.#use((connection) => readItems(connection, 'tools/list', signal), signal, true)
  }

  /** Everything that the server offers. */
  async readManifest(signal: AbortSignal): Promise<SourceManifest> {
    const { readManifest } = await loadReadItems()
    return this.#use((connection) => readManifest(connection, signal), signal, true)
  }

  /** Sends a request with the part of its client that the server may use, and refuses what it requests beyond that. */
  async #passing<Sent extends Pick<UpstreamCall, 'callerInput'>, Result extends object>(
    request: Sent,
    send: (passed: Sent) => Promise<Result>,
  ): Promise<Result> {
    const { name, clientRequests } = this.#options
    const callerInput = usableInput(request.callerInput, clientRequests)
    const result = await send({ ...request, callerInput }).catch((error: unknown) => {
      throw explainMissing(name, error, clientRequests)
    })
    return passRequests(name, result, clientRequests)
  }

  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#idle)
    await (await this.#opening?.catch(() => undefined))?.close()
  }

  /** Closes the server after its running calls have ended; no new ones are made. */
  retire(): void {
    this.#retired = true
    if (this.#busy === 0) void this.close()
  }

  /**
   * Does work on a connection; once more on a new one if the server did not receive the request, or if it ended and a
   * repetition has no further effect.
   */
  async #use<T>(work: (connection: Connection) => Promise<T>, signal: AbortSignal, isRepeatable = false): Promise<T> {
    const first = this.#useOnce(work, signal, isRepeatable ? 'ended' : 'not-received')
    return first.catch((error: unknown) => {
      if (error !== repeatable) throw error
      return this.#useOnce(work, signal, 'never')
    })
  }

  async #useOnce<T>(
    work: (connection: Connection) => Promise<T>,
    signal: AbortSignal,
    repeated: RepeatedAfter,
  ): Promise<T> {
    clearTimeout(this.#idle)
    this.#busy++
    try {
      const connection = await this.#connected(signal)
      const result = await this.#withChecks(connection, work(connection), signal, repeated)
      this.circuit.answered()
      this.#denied = undefined
      return result
    } finally {
      this.#busy--
      if (this.#busy === 0) this.#rest()
    }
  }

  /** Checks the connection after a failed call. */
  async #withChecks<T>(
    connection: Connection,
    work: Promise<T>,
    signal: AbortSignal,
    repeated: RepeatedAfter,
  ): Promise<T> {
    try {
      return await work
    } catch (error) {
      const wasNotReceived = connection.isUndelivered(error) || connection.isForgotten(error)
      const isRepeated = repeated === 'ended' ? wasNotReceived || connection.end === 'exited' : wasNotReceived
      if (signal.aborted) void this.#checkAlive(connection)
      else if (isRepeated && repeated !== 'never') {
        await this.#drop(connection)
        throw repeatable
      } else if (connection.isUndelivered(error)) {
        this.#giveUp(connection, connection.why ?? 'ended')
        throw endedError(this.#options.name, connection)
      } else if (connection.why !== undefined) throw endedError(this.#options.name, connection)
      else if (needsSignIn(error)) await (needsWiderScope(error) || this.#drop(connection))
      else if (isDenied(error)) this.#denied = describeFailure(error)
      else if (isUnreachable(error)) this.#giveUp(connection, describeFailure(error))
      else this.circuit.answered()
      throw error
    }
  }

  /** A slow call is no evidence of a dead server; a server that does not respond to a ping is disconnected. */
  async #checkAlive(connection: Connection): Promise<void> {
    if (connection.ended || (await connection.isAlive(this.#options.pingMs))) return
    this.#giveUp(connection, 'stopped responding')
  }

  #giveUp(connection: Connection, why: string): void {
    if (this.#now === connection) this.#failed(why)
    this.#forget(connection)
    connection.fail(why)
  }

  async #connected(signal: AbortSignal): Promise<Connection> {
    if (this.#now?.why !== undefined) this.#lost(this.#now)
    this.#refuseWhileDown()
    while (this.#opening === undefined && this.circuit.pauseMs > 0)
      await sleep(this.circuit.pauseMs, undefined, { signal })
    if (this.#closed) throw new TooldexError('SHUTTING_DOWN', 'The server is shutting down.')
    this.#opening ??= this.#open()
    return untilAborted(this.#opening, signal)
  }

  #refuseWhileDown(): void {
    const until = this.circuit.refusedUntil
    if (until === undefined || this.#now !== undefined) return
    const seconds = Math.max(1, Math.ceil(this.circuit.pauseMs / 1000))
    throw new TooldexError('UPSTREAM_DOWN', `The MCP server '${this.#options.name}' is down: it ${this.circuit.why}.`, {
      hint: `The next attempt is at ${until.toISOString()}, in ${seconds} s.`,
    })
  }

  async #open(): Promise<Connection> {
    let opened: Connection | undefined
    const onEnd = (): void => {
      if (opened !== undefined) this.#lost(opened)
    }
    try {
      // The MCP client is loaded with the first call that needs it.
      const { Connection } = await loadConnection()
      const { openTransport, connectMs, onListChanged } = this.#options
      opened = await Connection.open(openTransport, connectMs, { onEnd, onListChanged })
      this.#now = opened
      this.#options.onAttempt?.(undefined, false)
      if (opened.ended) this.#lost(opened)
      return opened
    } catch (error) {
      this.#opening = undefined
      // The next call may come after the sign-in.
      if (needsSignIn(error)) this.#options.onAttempt?.(describeFailure(error), true)
      else this.#failed(describeFailure(error))
      this.#denied = isDenied(error) ? describeFailure(error) : undefined
      throw error
    }
  }

  /** An end during calls is a failure; an idle server may end. */
  #lost(connection: Connection): void {
    if (this.#now !== connection) return
    if (connection.why !== undefined && this.#busy > 0) this.#failed(connection.why)
    this.#forget(connection)
  }

  #failed(why: string): void {
    this.circuit.failed(why)
    this.#options.onAttempt?.(why, false)
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

const capabilityOf = (method: OfferMethod) =>
  method === 'completion/complete' ? 'completions' : method.startsWith('prompts/') ? 'prompts' : 'resources'

/** Signals that a request is repeated: the session had expired, or the server had ended. */
const repeatable = new Error('The request is repeated.')

const endedError = (name: string, { end, why }: Connection): TooldexError =>
  new TooldexError(end === 'oversized-message' ? 'OUTPUT_LIMIT' : 'UPSTREAM_ERROR', `${name} ${why}.`)
