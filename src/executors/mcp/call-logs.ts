import { isObject } from '../../base/json-values.ts'
import { type LogMessage, type MessageLevel, messageLevels } from '../../contract/executor.ts'

/** The receiver of the log messages of one request. */
export interface LogListener {
  /** The value of the request that names it: the arguments of a call. */
  readonly key: object
  /** Whose request it is. */
  readonly caller: string
  readonly take: (message: LogMessage) => void
}

/**
 * Relates the log messages of a server to the request that caused them. Over HTTP, it comes in the stream of that request. Elsewhere a
 * message names none: it belongs to the only request that runs, on a connection that only one caller has used. Any other
 * message is dropped, because it may contain what belongs to somebody else.
 */
export class CallLogs {
  readonly #running = new Map<object, LogListener>()
  readonly #byId = new Map<string, LogListener>()
  #caller: string | undefined
  #isShared = false

  /** Receives messages until the returned function is called. */
  begin(listener: LogListener): () => void {
    this.#isShared ||= this.#caller !== undefined && this.#caller !== listener.caller
    this.#caller = listener.caller
    this.#running.set(listener.key, listener)
    return () => {
      this.#running.delete(listener.key)
      for (const [id, each] of this.#byId) if (each === listener) this.#byId.delete(id)
    }
  }

  /** Notes the id of a request that is sent. */
  sent({ id, params }: { readonly id?: string | number | undefined; readonly params?: object | undefined }): void {
    const key = (params as { arguments?: object } | undefined)?.arguments
    const listener = key === undefined ? undefined : this.#running.get(key)
    if (listener !== undefined && id !== undefined) this.#byId.set(String(id), listener)
  }

  /** Passes on a message that came with a request, or with none. */
  take(params: unknown, request?: string): void {
    const message = readMessage(params)
    if (message === undefined) return
    const only = this.#isShared || this.#running.size !== 1 ? [] : this.#running.values()
    const [listener] = request === undefined ? only : [this.#byId.get(request)]
    listener?.take(message)
  }
}

const maxLogger = 100

/** A message in the form of the protocol; undefined for anything else. */
function readMessage(params: unknown): LogMessage | undefined {
  if (!isObject(params)) return undefined
  const level = messageLevels.find((each) => each === params.level)
  if (level === undefined || params.data === undefined) return undefined
  const logger = typeof params.logger === 'string' ? params.logger.slice(0, maxLogger) : ''
  return { level, logger, data: params.data }
}

const setLevelMs = 2000

type SetLevel = (level: MessageLevel, options: { readonly signal: AbortSignal }) => Promise<unknown>

/** The level of a server of the older revisions, which is one for the connection: the most verbose that a call wanted. */
export class SessionLevel {
  readonly #set: SetLevel
  #index: number = messageLevels.length
  #setting: Promise<unknown> | undefined

  constructor(set: SetLevel) {
    this.#set = set
  }

  /** Settles when the server has the level, or after a while: a server without this request sends what it sends. */
  request(level: MessageLevel, signal: AbortSignal): Promise<unknown> | undefined {
    const index = messageLevels.indexOf(level)
    if (index >= this.#index) return this.#setting
    this.#index = index
    const options = { signal: AbortSignal.any([signal, AbortSignal.timeout(setLevelMs)]) }
    this.#setting = this.#set(level, options).catch(() => {})
    return this.#setting
  }
}
