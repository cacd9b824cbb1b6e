import { TooldexError } from '../../base/errors.ts'
import type { ApiKey, KeyStore } from '../../contract/stores.ts'
import type { Scope } from '../../operations/operation.ts'
import { hashKey } from '../../operations/registry/keys.ts'

/** Who asks, and what they may do. */
export interface Identity {
  readonly key: ApiKey
  readonly scopes: ReadonlySet<Scope>
}

/** What a request says of itself. */
interface Asked {
  readonly authorization: string | undefined
  readonly address: string
  readonly source: string
  readonly isReading: boolean
}

const implied: Readonly<Record<Scope, readonly Scope[]>> = {
  read: ['read'],
  call: ['call', 'read'],
  write: ['write', 'read'],
  admin: ['admin', 'write', 'call', 'read'],
}
// A key that was just looked up is not looked up again to read; one that is revoked at another server reads this much longer.
const rememberedMs = 1000
const mostRemembered = 1000
const failures = { most: 20, withinMs: 60_000, mostSources: 10_000 }

/** Finds out whose key a request has; too many wrong ones from one address are not even looked at. */
export class Authenticator {
  readonly #keys: KeyStore
  readonly #known = new Map<string, { readonly identity: Identity; readonly until: number }>()
  readonly #failed = new Map<string, { count: number; readonly since: number }>()

  constructor(keys: KeyStore) {
    this.#keys = keys
  }

  /** Who changes something, or runs it, is looked up each time. */
  async identify({ authorization, address, source, isReading }: Asked): Promise<Identity> {
    refuseSecretInAddress(address)
    const [scheme = '', secret = ''] = (authorization ?? '').split(' ')
    if (scheme.toLowerCase() !== 'bearer' || secret === '')
      throw new TooldexError('UNAUTHORIZED', 'A key is needed for this.')
    const hash = hashKey(secret)
    const now = Date.now()
    const known = this.#known.get(hash)
    if (isReading && known !== undefined && known.until > now) return known.identity
    // Whoever guesses shares an address with others; a key that was right before is no guess.
    if (known === undefined) this.#refuseGuessing(source, now)
    const key = await this.#keys.find(hash)
    if (key === undefined) {
      this.#known.delete(hash)
      this.#noteFailure(source, now)
      throw new TooldexError('UNAUTHORIZED', 'The key is unknown, revoked or expired.')
    }
    const identity = { key, scopes: new Set(key.scopes.flatMap((scope) => implied[scope])) }
    if (this.#known.size >= mostRemembered) this.#known.clear()
    this.#known.set(hash, { identity, until: now + rememberedMs })
    return identity
  }

  /** After a key was revoked here. */
  forget(): void {
    this.#known.clear()
  }

  #refuseGuessing(source: string, now: number): void {
    const failed = this.#failed.get(source)
    if (failed === undefined) return
    if (now - failed.since > failures.withinMs) this.#failed.delete(source)
    else if (failed.count >= failures.most) {
      const retryAfter = Math.ceil((failed.since + failures.withinMs - now) / 1000) + 1
      const hint = `Wait ${retryAfter} seconds; a key that was right before is still taken.`
      throw new TooldexError('TOO_BUSY', 'Too many wrong keys from this address.', { hint, retryAfter })
    }
  }

  #noteFailure(source: string, now: number): void {
    if (this.#failed.size >= failures.mostSources) this.#failed.clear()
    const failed = this.#failed.get(source) ?? { count: 0, since: now }
    failed.count++
    this.#failed.set(source, failed)
  }
}

/** An address is written to logs and histories; a key has no place there. */
function refuseSecretInAddress(address: string): void {
  if (!address.includes('?')) return
  const query = new URL(address).searchParams
  for (const name of query.keys()) {
    if (/^(?:api_?key|key|token|access_token|authorization|secret)$/i.test(name))
      throw new TooldexError('UNAUTHORIZED', `A key must not be part of the address ('${name}').`)
  }
}
