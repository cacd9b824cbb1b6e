import { randomUUID } from 'node:crypto'
import type { ClientCapabilities, Implementation, LoggingLevel } from '@modelcontextprotocol/server'
import { BoundedMap } from '../../../base/bounded-map.ts'
import type { ClientExchange } from '../client-rounds.ts'

/** What a client declared at `initialize`, and set since. */
export interface Session {
  readonly protocolVersion: string
  readonly capabilities: ClientCapabilities
  readonly clientInfo: Implementation
  readonly logLevel?: LoggingLevel | undefined
  /** The URIs of resources whose changes are announced. */
  readonly subscriptions?: readonly string[] | undefined
}

const prefix = 'session:'
// Another replica may end or change a session; this one notices it within this time.
const knownMs = 5000
const maxKnown = 10_000
const isSessionId = /^[\w-]{36}$/

/**
 * Sessions of the revisions before 2026-07-28. A session is stored, so that every replica knows it after a restart; it belongs to the
 * caller who began it, expires after a day without changes, and authenticates nobody.
 */
export class Sessions {
  readonly #known = new BoundedMap<string, { readonly until: number; readonly session: Session | undefined }>(maxKnown)

  async begin(exchange: ClientExchange, session: Session): Promise<string> {
    const id = randomUUID()
    await this.change(exchange, id, session)
    return id
  }

  /** Undefined if the session is unknown, has ended or expired, or belongs to another caller. */
  async find(exchange: ClientExchange, id: string): Promise<Session | undefined> {
    if (!isSessionId.test(id)) return undefined
    const key = keyOf(exchange, id)
    const known = this.#known.get(key)
    if (known !== undefined && known.until > performance.now()) return known.session
    const session = (await exchange.exchanges.get(exchange.caller, prefix + id)) as Session | undefined
    this.#remember(key, session)
    return session
  }

  async change(exchange: ClientExchange, id: string, session: Session): Promise<void> {
    await exchange.exchanges.put(exchange.caller, prefix + id, session)
    this.#remember(keyOf(exchange, id), session)
  }

  async end(exchange: ClientExchange, id: string): Promise<void> {
    await exchange.exchanges.take(exchange.caller, prefix + id)
    this.#remember(keyOf(exchange, id), undefined)
  }

  #remember(key: string, session: Session | undefined): void {
    this.#known.set(key, { until: performance.now() + knownMs, session })
  }
}

const keyOf = ({ caller }: ClientExchange, id: string): string => JSON.stringify([caller.workspace, caller.actor, id])
