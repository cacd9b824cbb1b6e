import { isIP } from 'node:net'
import { BoundedMap } from '../../base/bounded-map.ts'
import { TooldexError } from '../../base/errors.ts'
import type { KeyStore, RegistryState } from '../../contract/stores.ts'
import type { Scope } from '../../operations/operation.ts'
import { hashKey } from '../../operations/registry/keys.ts'
import { isToken, isWrongToken, type OAuthSettings, TokenVerifier } from './access-tokens.ts'

/** An authenticated caller. */
interface Identity {
  readonly workspace: string
  /** The caller in records and policies: `key:NAME`, or `sub:SUBJECT` with an access token. */
  readonly actor: string
  readonly scopes: ReadonlySet<Scope>
  /** The groups of an access token. */
  readonly groups?: readonly string[]
  /** The toolsets that a key is restricted to. */
  readonly toolsets?: readonly string[]
  /** Whether the caller may run programs. */
  readonly codeMode?: boolean
  /** The state of the registry, if it was read with the key. */
  readonly registryState?: RegistryState
  /** The key, which can be revoked; absent with an access token, which expires. */
  readonly keyId?: string
  /** Aborted when the access token expires. */
  readonly expired?: AbortSignal
}

/** The proof of identity that a session stores: the hash of a key, which is no longer a key, or an access token. */
export type Credential = { readonly keyHash: string } | { readonly token: string }

/** The parts of a request for authentication. */
interface Credentials {
  readonly authorization: string | undefined
  /** The credential of the session; used without an Authorization header. */
  readonly session?: Credential | undefined
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
const withImplied = (scopes: readonly Scope[]): ReadonlySet<Scope> => new Set(scopes.flatMap((scope) => implied[scope]))
// Reads use a cached key; a key revoked at another server can read for this much longer.
const cacheMs = 1000
const maxCached = 1000
const prefixLength = 8

/** Identifies callers by their keys. The lookup by hash is cheap, because keys are long and random. */
export class Authenticator {
  readonly #keys: KeyStore
  readonly #cache = new BoundedMap<string, { readonly identity: Identity; readonly until: number }>(maxCached)
  readonly #failed = new FailedKeys()
  readonly #tokens: { readonly verifier: TokenVerifier; readonly workspace: string } | undefined

  constructor(keys: KeyStore, oauth?: OAuthSettings) {
    this.#keys = keys
    if (oauth !== undefined) this.#tokens = { verifier: new TokenVerifier(oauth), workspace: oauth.workspace }
  }

  /** Writes and calls look the key up each time. */
  async identify({ authorization, session, address, source, isReading }: Credentials): Promise<Identity> {
    rejectSecretInUrl(address)
    if (authorization === undefined && session !== undefined) {
      if ('token' in session) return this.#identifyByToken(session.token, source)
      return this.#identifyByHash(session.keyHash, isReading, endedSession)
    }
    const [scheme = '', secret = ''] = (authorization ?? '').split(' ')
    if (scheme.toLowerCase() !== 'bearer' || secret === '')
      throw new TooldexError('UNAUTHORIZED', 'An API key is required.')
    const credential = this.credentialOf(secret)
    if ('token' in credential) return this.#identifyByToken(credential.token, source)
    return this.#identifyByHash(credential.keyHash, isReading, () =>
      this.#failed.refuse(unknownKey(), [addressOf(source), `key ${secret.slice(0, prefixLength)}`]),
    )
  }

  /** The credential that a session stores for a key or an access token. */
  credentialOf(secret: string): Credential {
    return this.#tokens !== undefined && isToken(secret) ? { token: secret } : { keyHash: hashKey(secret) }
  }

  async #identifyByHash(hash: string, isReading: boolean, refuse: () => TooldexError): Promise<Identity> {
    const now = Date.now()
    const cached = this.#cache.get(hash)
    if (isReading && cached !== undefined && cached.until > now) return cached.identity
    const key = await this.#keys.find(hash)
    if (key === undefined) {
      this.#cache.delete(hash)
      throw refuse()
    }
    const { workspace, name, id: keyId, codeMode, registryState } = key
    const restriction = key.toolsets === null ? {} : { toolsets: key.toolsets }
    const identity = {
      workspace,
      actor: `key:${name}`,
      keyId,
      codeMode,
      scopes: withImplied(key.scopes),
      ...restriction,
    }
    this.#cache.set(hash, { identity, until: now + cacheMs })
    return { ...identity, registryState }
  }

  async #identifyByToken(token: string, source: string): Promise<Identity> {
    if (this.#tokens === undefined) throw endedSession()
    const { verifier, workspace } = this.#tokens
    const { subject, groups, scopes, expired } = await verifier.verify(token).catch((thrown: unknown) => {
      // All tokens begin alike, so they are counted by address only.
      throw isWrongToken(thrown) ? this.#failed.refuse(thrown, [addressOf(source)]) : thrown
    })
    return { workspace, actor: `sub:${subject}`, groups, scopes: withImplied(scopes), expired }
  }

  /** Clears the cache after a key was revoked. */
  forget(): void {
    this.#cache.clear()
  }
}

/** Rejects keys in the URL, which is written to logs and histories. */
function rejectSecretInUrl(address: string): void {
  const name = secretInUrl(address)
  if (name !== undefined) throw new TooldexError('UNAUTHORIZED', `A key must not be part of the URL ('${name}').`)
}

/** The parameter of a URL that has the name of a key. */
export function secretInUrl(address: string): string | undefined {
  if (!address.includes('?')) return undefined
  const names = [...new URL(address).searchParams.keys()]
  return names.find((name) => /^(?:api_?key|key|token|access_token|authorization|secret)$/i.test(name))
}

const limits = { maxFailures: 20, withinMs: 60_000, maxEntries: 10_000 }

/** Counts wrong keys and tokens by the address that they come from, and keys by their first characters. Valid ones are never delayed. */
export class FailedKeys {
  readonly #counts = new BoundedMap<string, { count: number; readonly since: number }>(limits.maxEntries)

  /** Counts a failure under these names and returns the error of the response. */
  refuse(error: TooldexError, names: readonly string[], now = Date.now()): TooldexError {
    const late = Math.max(...names.map((name) => this.#add(name, now)))
    if (late <= now) return error
    const retryAfter = Math.ceil((late - now) / 1000) + 1
    const hint = `Wait ${retryAfter} seconds before trying another one; a valid key or token is accepted at any time.`
    const message = 'Too many wrong keys or tokens from this address, or too many keys that begin like this one.'
    return new TooldexError('TOO_BUSY', message, { hint, retryAfter })
  }

  /** Returns the end of the block, or 0 if the limit is not exceeded. */
  #add(name: string, now: number): number {
    const previous = this.#counts.get(name)
    const entry = previous === undefined || now - previous.since > limits.withinMs ? { count: 0, since: now } : previous
    entry.count++
    this.#counts.set(name, entry)
    return entry.count > limits.maxFailures ? entry.since + limits.withinMs : 0
  }
}

const endedSession = () =>
  new TooldexError('UNAUTHORIZED', 'The session has ended: its key was revoked or has expired.', {
    hint: 'Sign in again.',
  })
const unknownKey = () => new TooldexError('UNAUTHORIZED', 'The key is unknown, revoked or expired.')

/** The name under which failures of an address are counted. */
export const addressOf = (source: string): string => `address ${networkOf(source)}`

/** The network of one client: an IPv6 address alone is one of the 2^64 that a client may use. */
function networkOf(address: string): string {
  if (isIP(address) !== 6) return address
  const [head = '', tail] = address.split('%')[0]?.split('::') ?? []
  const before = head.split(':').filter(Boolean)
  const after = (tail ?? '').split(':').filter(Boolean)
  const groups = [...before, ...Array(Math.max(0, 8 - before.length - after.length)).fill('0'), ...after]
  return groups
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, '').toLowerCase())
    .join(':')
}
