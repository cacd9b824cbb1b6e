import type { JSONRPCMessage } from '@modelcontextprotocol/client'

/** How much a server may say. Each bound protects everyone else from one bad server. */
export interface MessageLimits {
  /** The largest single message; a server that sends a larger one is let go. */
  readonly messageBytes: number
  /** How many items a result may have; more are cut off. */
  readonly items: number
  /** How many messages that nobody waits for are taken in a second; a server that sends more is let go. */
  readonly chatter: number
}

export const defaultMessageLimits: MessageLimits = { messageBytes: 16 * 1024 * 1024, items: 1000, chatter: 2000 }

/** The kinds of ends of a server that was not asked to end: its process exited, a message was too large, or it was let go. */
export type LineEnd = 'exited' | 'oversized-message' | 'failed'

/** What came and was not taken. */
export interface Ignored {
  /** Not JSON, or no message of the protocol. */
  malformed: number
  /** Answers to nothing: of another id, a second one, or one that came after the call was given up. */
  unexpected: number
}

/** Lets through only what somebody waits for, and no more of it than is allowed. */
export class MessageCheck {
  readonly ignored: Ignored = { malformed: 0, unexpected: 0 }
  readonly limits: MessageLimits
  readonly #onFlood: () => void
  readonly #asked = new Set<string | number>()
  #heard = 0
  #since = 0

  constructor(limits: MessageLimits, onFlood: () => void) {
    this.limits = limits
    this.#onFlood = onFlood
  }

  /** Remembers what was asked, and what nobody waits for any more. */
  sent(message: JSONRPCMessage): void {
    if (!('method' in message)) return
    if ('id' in message) this.#asked.add(message.id)
    else if (message.method === 'notifications/cancelled') this.forget(cancelledId(message.params))
  }

  /** Nobody waits for the answer any more. */
  forget(id: string | number): void {
    this.#asked.delete(id)
  }

  /** Whether a message is to be handed on; the content of a result may be cut. */
  accepts(message: JSONRPCMessage): boolean {
    if ('method' in message) return this.#hear()
    const { id } = message
    if (id === undefined || !this.#asked.delete(id)) {
      this.ignored.unexpected++
      this.#hear()
      return false
    }
    if ('result' in message) this.#cut(message.result as { content?: unknown; _meta?: Record<string, unknown> })
    return true
  }

  /** Counts something that is no message at all. */
  refuse(): void {
    this.ignored.malformed++
    this.#hear()
  }

  /** Nobody waits for this; it is taken as long as it is not too much. */
  #hear(): boolean {
    if (++this.#heard < this.limits.chatter) return true
    const now = performance.now()
    if (now - this.#since < 1000) this.#onFlood()
    this.#since = now
    this.#heard = 0
    return true
  }

  /** Cut here, before anything looks at every item. */
  #cut(result: { content?: unknown; _meta?: Record<string, unknown> }): void {
    const { content } = result
    if (!Array.isArray(content) || content.length <= this.limits.items) return
    result._meta = { ...result._meta, [cutMark]: content.length }
    result.content = content.slice(0, this.limits.items)
  }
}

/** How many items a result had before it was cut. */
export const cutMark = 'tooldex/items'

const cancelledId = (params: unknown): string | number =>
  (params as { requestId?: string | number } | undefined)?.requestId ?? ''
