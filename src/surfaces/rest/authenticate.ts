import { TooldexError } from '../../base/errors.ts'
import type { ApiKey, KeyStore } from '../../contract/stores.ts'
import type { Scope } from '../../operations/operation.ts'
import { hashKey } from '../../operations/registry/keys.ts'
import { FailedKeys } from './failed-keys.ts'

/** Who asks, and what they may do. */
export interface Identity {
  readonly key: ApiKey
  readonly scopes: ReadonlySet<Scope>
}

/** What a request says of itself. */
interface Asked {
  readonly authorization: string | undefined
  readonly address: string
  /** The address of the client. */
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
const maxRemembered = 1000
const prefixLength = 8

/** Identifies callers by their keys. Every key is looked up, which is cheap, because keys are long and random and found by their hash. */
export class Authenticator {
  readonly #keys: KeyStore
  readonly #known = new Map<string, { readonly identity: Identity; readonly until: number }>()
  readonly #failed = new FailedKeys()

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
    const key = await this.#keys.find(hash)
    if (key === undefined) {
      this.#known.delete(hash)
      throw this.#failed.refuse(source, secret.slice(0, prefixLength), now)
    }
    const identity = { key, scopes: new Set(key.scopes.flatMap((scope) => implied[scope])) }
    if (this.#known.size >= maxRemembered) this.#known.clear()
    this.#known.set(hash, { identity, until: now + rememberedMs })
    return identity
  }

  /** After a key was revoked here. */
  forget(): void {
    this.#known.clear()
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
