import type { JSONRPCMessage } from '@modelcontextprotocol/client'
import { isObject } from '../../base/json-values.ts'
import { CallLogs } from './call-logs.ts'

/** The limits on the messages of a server; each protects all other callers from one bad server. */
export interface MessageLimits {
  /** The maximum size of a message; a server that exceeds it is disconnected. */
  readonly messageBytes: number
  /** The maximum number of items of a result; further ones are cut off. */
  readonly items: number
  /** The maximum number of unsolicited messages per second; a server that exceeds it is disconnected. */
  readonly chatter: number
}

export const defaultMessageLimits: MessageLimits = { messageBytes: 16 * 1024 * 1024, items: 1000, chatter: 2000 }

/** The kinds of unexpected ends of a server: its process exited, a message was too large, or it was disconnected. */
export type LineEnd = 'exited' | 'oversized-message' | 'failed'

/** The numbers of ignored messages. */
export interface Ignored {
  /** Not JSON, or not a message of the protocol. */
  malformed: number
  /** Responses without a pending request: an unknown id, a duplicate, or a response to a cancelled call. */
  unexpected: number
}

/** Accepts only responses to pending requests, within the limits. */
export class MessageCheck {
  readonly ignored: Ignored = { malformed: 0, unexpected: 0 }
  readonly limits: MessageLimits
  readonly logs = new CallLogs()
  readonly #onFlood: () => void
  readonly #pending = new Set<string | number>()
  #unsolicited = 0
  #since = 0

  constructor(limits: MessageLimits, onFlood: () => void) {
    this.limits = limits
    this.#onFlood = onFlood
  }

  /** Records a sent request, or the cancellation of one. */
  sent(message: JSONRPCMessage): void {
    if (!('method' in message)) return
    if ('id' in message) {
      this.#pending.add(message.id)
      this.logs.sent(message)
    }
    if (message.method === 'notifications/cancelled') this.forget(cancelledId(message.params))
  }

  /** Removes a pending request; its response will be ignored. */
  forget(id: string | number): void {
    this.#pending.delete(id)
  }

  /** Whether a message is passed to the client; the content of a result may be cut. Log messages are for `takeLog`. */
  accepts(message: JSONRPCMessage): boolean {
    if ('method' in message) {
      this.#countUnsolicited()
      return message.method !== logMethod
    }
    const { id } = message
    if (id === undefined || !this.#pending.delete(id)) {
      this.ignored.unexpected++
      this.#countUnsolicited()
      return false
    }
    if ('result' in message) message.result = cutContent(message.result, this.limits.items) as typeof message.result
    return true
  }

  /** Passes on a message if it is a log message; `request`: the id of the request in whose stream it came. */
  takeLog(message: unknown, request?: string): void {
    const read = typeof message === 'string' ? parsed(message) : message
    if (isObject(read) && read.method === logMethod) this.logs.take(read.params, request)
  }

  /** Counts input that is not a valid message. */
  refuse(): void {
    this.ignored.malformed++
    this.#countUnsolicited()
  }

  /** Counts an unsolicited message, and reports a flood. */
  #countUnsolicited(): void {
    if (++this.#unsolicited < this.limits.chatter) return
    const now = performance.now()
    if (now - this.#since < 1000) this.#onFlood()
    this.#since = now
    this.#unsolicited = 0
  }
}

const logMethod = 'notifications/message'

function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}

/** The key of the number of items that a result had before it was cut. */
export const cutMark = 'tooldex/items'

/** Cuts the items of a result before each of them is validated. */
export function cutContent(result: Readonly<Record<string, unknown>>, maxItems: number) {
  const { content, _meta } = result
  if (!Array.isArray(content) || content.length <= maxItems) return result
  return { ...result, content: content.slice(0, maxItems), _meta: { ...(_meta as object), [cutMark]: content.length } }
}

const cancelledId = (params: unknown): string | number =>
  (params as { requestId?: string | number } | undefined)?.requestId ?? ''

/** Delivers messages in turns: the client processes notifications asynchronously, and a response must not overtake one. */
export class PacedDelivery {
  readonly #deliver: (message: JSONRPCMessage) => void
  readonly #waiting: JSONRPCMessage[] = []
  #paused = false

  constructor(deliver: (message: JSONRPCMessage) => void) {
    this.#deliver = deliver
  }

  push(message: JSONRPCMessage): void {
    this.#waiting.push(message)
    if (!this.#paused) this.#run()
  }

  #run(): void {
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      this.#deliver(next)
      if (!('method' in next)) continue
      this.#paused = true
      setImmediate(() => {
        this.#paused = false
        this.#run()
      })
      return
    }
  }
}
