import { createHash, randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { BoundedMap } from '../../base/bounded-map.ts'
import { TooldexError } from '../../base/errors.ts'
import { lazyModule } from '../../base/lazy-module.ts'
import type { HttpServer } from '../../contract/mcp-server.ts'
import type { SecretBox, SecretScope } from '../../contract/secret.ts'
import {
  type BegunSignIn,
  type SealedTokens,
  type SignInClient,
  type SignInRef,
  type SignInReturn,
  type SignInState,
  type SignInStore,
  type SignInTicket,
  type StoredSignIn,
  signInPath,
} from '../../contract/sign-in.ts'
import type { SourceRef } from '../../contract/source.ts'
import type { Caller } from '../../contract/stores.ts'
import { isOwner } from '../../rules/server-definition.ts'
import type { ClientInformation, Exchange, TokenSet } from './oauth-flow.ts'
import { resolveValues } from './server-settings.ts'

const loadFlow = lazyModule(() => import('./oauth-flow.ts'))
const loadDiscovery = lazyModule(() => import('./oauth-discovery.ts'))
const loadRequests = lazyModule(() => import('./oauth-discovery.ts'))

/** The dependencies of the OAuth client. */
export interface SignInParts {
  readonly store: SignInStore
  readonly box: SecretBox
  readonly secretsOf: (workspace: string) => SecretScope
  /** The approved definition of a source; throws where there is none. */
  readonly find: (ref: SourceRef) => Promise<HttpServer>
}

/** A sign-in with its tokens. */
interface Opened {
  readonly tokens: TokenSet
  readonly revision: number
}

const ticketMs = 3_600_000
// A ticket is shown in many responses, so the same one is used for a while.
const sameTicketMs = 300_000
const exchangeMs = 600_000
// Another process may sign out or refresh.
const cacheMs = 1000
// A token that is about to expire would be refused on its way.
const earlyMs = 30_000
const claimMs = 45_000
const pollMs = 100
const maxCached = 2000

/** Signs in at the servers of sources, and keeps their tokens: encrypted, refreshed by one process at a time. */
export class SignIns implements SignInClient {
  readonly #parts: SignInParts
  readonly #tickets = new BoundedMap<string, { readonly text: string; readonly until: number }>(maxCached)
  readonly #known = new BoundedMap<string, { readonly opened: Opened | undefined; readonly until: number }>(maxCached)
  /** The scopes that servers require beyond those of their tokens; the next link requests them. */
  readonly #wider = new BoundedMap<string, string>(maxCached)
  readonly #refreshing = new Map<string, Promise<Opened | undefined>>()

  constructor(parts: SignInParts) {
    this.#parts = parts
  }

  /** The tokens of a sign-in at this URL, refreshed if they are about to expire. */
  async tokensFor(ref: SignInRef, server: HttpServer): Promise<Opened | undefined> {
    const key = keyOf(ref)
    const known = this.#known.get(key)
    const opened = known !== undefined && known.until > Date.now() ? known.opened : await this.#read(ref)
    if (opened === undefined || opened.tokens.url !== server.url) return undefined
    const { expiresAt, refresh } = opened.tokens
    if (expiresAt === null || expiresAt - earlyMs > Date.now()) return opened
    // A token of a short life without a refresh is used until it ends.
    if (refresh === null && expiresAt > Date.now()) return opened
    return this.refresh(ref, server, opened.revision)
  }

  /** Refreshes the tokens of a revision, once for all concurrent calls and processes. */
  async refresh(ref: SignInRef, server: HttpServer, revision: number): Promise<Opened | undefined> {
    const key = keyOf(ref)
    const running = this.#refreshing.get(key)
    if (running !== undefined) return running
    const refreshing = this.#refreshClaimed(ref, server, revision).finally(() => this.#refreshing.delete(key))
    this.#refreshing.set(key, refreshing)
    return refreshing
  }

  /** Notes the scope that a server requires; false if the tokens have it, so that another sign-in would change nothing. */
  async requireScope(ref: SignInRef, required: readonly string[]): Promise<boolean> {
    const present = (await this.#read(ref))?.tokens.scope?.split(' ') ?? []
    if (required.every((each) => present.includes(each))) return false
    this.#wider.set(keyOf(ref), [...new Set([...present, ...required])].join(' '))
    this.#tickets.clear()
    return true
  }

  ticketFor(ref: SignInRef, actor: string): string {
    const key = `${actor} ${keyOf(ref)}`
    const known = this.#tickets.get(key)
    if (known !== undefined && known.until > Date.now()) return known.text
    const id = randomBytes(9).toString('base64url')
    const sealed = this.#seal('ticket', {
      ...ref,
      actor,
      id,
      scope: this.#wider.get(keyOf(ref)),
      expiresAt: Date.now() + ticketMs,
    })
    const text = `${signInPath}?ticket=${Buffer.from(sealed, 'base64').toString('base64url')}`
    this.#tickets.set(key, { text, until: Date.now() + sameTicketMs })
    return text
  }

  readTicket(text: string): SignInTicket | undefined {
    try {
      const sealed = Buffer.from(text, 'base64url').toString('base64')
      const { expiresAt, ...ticket } = this.#open<SignInTicket & { expiresAt: number }>('ticket', sealed)
      return expiresAt > Date.now() ? ticket : undefined
    } catch {
      return undefined
    }
  }

  async begin(ref: SignInTicket, origin: string): Promise<BegunSignIn> {
    const server = await this.#parts.find(ref)
    if (!isOwner(ref, server)) throw changed()
    const [{ discover }, flow, { openOAuthRequests }] = await Promise.all([loadDiscovery(), loadFlow(), loadRequests()])
    const requests = openOAuthRequests(server)
    const state = randomBytes(32).toString('base64url')
    try {
      const found = await discover(server, await this.#headersOf(ref, server), requests)
      const discovered = { ...found, scope: ref.scope ?? found.scope }
      const { metadata } = discovered
      const client =
        (await this.#configured(ref, server)) ??
        flow.documentClient(metadata, origin) ??
        (await this.#registered(ref, `${metadata.issuer} ${origin}`, () => flow.register(discovered, origin, requests)))
      const begun = { client, origin, state, withinMs: exchangeMs }
      const { authorizationUrl, exchange } = await flow.authorize(server, discovered, begun)
      return { url: authorizationUrl.href, state, sealed: this.#seal('exchange', exchange) }
    } catch (thrown) {
      throw flow.describeOAuth(thrown, server.url)
    } finally {
      await requests.close()
    }
  }

  async finish(
    actor: Caller,
    ref: SignInRef,
    { sealed }: Pick<BegunSignIn, 'sealed'>,
    answer: SignInReturn,
  ): Promise<SignInState> {
    const exchange = this.#open<Exchange>('exchange', sealed)
    const server = await this.#parts.find(ref)
    if (!isOwner(ref, server)) throw changed()
    if (server.url !== exchange.url) throw changed()
    const { exchangeCode } = await loadFlow()
    const tokens = await exchangeCode(server, exchange, answer)
    const state = await this.#parts.store.put(actor, ref, this.#toStore(tokens))
    this.#forget(ref)
    this.#wider.delete(keyOf(ref))
    this.#tickets.delete(`${actor.actor} ${keyOf(ref)}`)
    return state
  }

  /** Deletes the tokens here, and ends them at the authorization server as far as that answers. */
  async signOut(actor: Caller, ref: SignInRef): Promise<boolean> {
    const opened = await this.#read(ref).catch(() => undefined)
    const hasEnded = await this.#parts.store.end(actor, ref)
    this.#forget(ref)
    if (opened !== undefined) {
      const { revoke } = await loadFlow()
      await this.#parts
        .find(ref)
        .then((server) => revoke(server, opened.tokens))
        .catch(() => {})
    }
    return hasEnded
  }

  async #read(ref: SignInRef): Promise<Opened | undefined> {
    const opened = this.#toOpened(await this.#parts.store.get(ref))
    this.#known.set(keyOf(ref), { opened, until: Date.now() + cacheMs })
    return opened
  }

  #forget(ref: SignInRef): void {
    this.#known.delete(keyOf(ref))
  }

  #toOpened(row: StoredSignIn | undefined): Opened | undefined {
    if (row === undefined || row.sealed === null) return undefined
    return { tokens: this.#open<TokenSet>('tokens', row.sealed), revision: row.revision }
  }

  async #refreshClaimed(ref: SignInRef, server: HttpServer, revision: number): Promise<Opened | undefined> {
    const { store } = this.#parts
    for (;;) {
      const opened = await this.#read(ref)
      // Another process has refreshed or ended it.
      if (opened === undefined || opened.revision !== revision) return opened
      if (await store.claimRefresh(ref, revision, claimMs)) return this.#refreshNow(ref, server, opened)
      await sleep(pollMs)
    }
  }

  async #refreshNow(ref: SignInRef, server: HttpServer, { tokens, revision }: Opened): Promise<Opened | undefined> {
    const { store } = this.#parts
    try {
      const { refreshTokens } = await loadFlow()
      const refreshed = await refreshTokens(server, await this.#withSecret(ref, server, tokens))
      if (refreshed !== undefined) {
        await store.endRefresh(ref, revision, this.#toStore(refreshed))
        return await this.#read(ref)
      }
      const reason = tokens.refresh === null ? 'its token has expired' : 'the authorization server has ended it'
      await store.end({ workspace: ref.workspace, actor: ref.caller || 'tooldex' }, ref, { revision, reason })
      this.#forget(ref)
      return undefined
    } catch (thrown) {
      await store.endRefresh(ref, revision, undefined)
      // The present token may be valid for a few seconds more.
      if (tokens.expiresAt !== null && tokens.expiresAt > Date.now()) return { tokens, revision }
      throw thrown
    }
  }

  #toStore(tokens: TokenSet): SealedTokens {
    return { sealed: this.#seal('tokens', tokens), issuer: tokens.server.issuer, scope: tokens.scope }
  }

  async #headersOf({ workspace }: SourceRef, { headers }: HttpServer): Promise<Record<string, string>> {
    return resolveValues(headers, this.#parts.secretsOf(workspace))
  }

  async #configured(ref: SourceRef, { oauth }: HttpServer): Promise<ClientInformation | undefined> {
    if (oauth?.clientId === undefined) return undefined
    const { clientId: client_id, clientSecret } = oauth
    if (clientSecret === undefined) return { client_id }
    return { client_id, client_secret: await this.#parts.secretsOf(ref.workspace).resolve(clientSecret) }
  }

  /** The secret of a client that was registered by hand may have been replaced. */
  async #withSecret(ref: SourceRef, server: HttpServer, tokens: TokenSet): Promise<TokenSet> {
    const configured = await this.#configured(ref, server)
    return configured?.client_id === tokens.client.client_id ? { ...tokens, client: configured } : tokens
  }

  /** The stored registration at an authorization server, or a new one. */
  async #registered(
    ref: SourceRef,
    at: string,
    register: () => Promise<ClientInformation>,
  ): Promise<ClientInformation> {
    const sealed = await this.#parts.store.client(ref)
    const stored = sealed === null ? undefined : this.#open<Registration>('client', sealed)
    const ends = Number(
      (stored?.client as { client_secret_expires_at?: unknown } | undefined)?.client_secret_expires_at,
    )
    if (stored?.at === at && !(ends > 0 && ends * 1000 < Date.now())) return stored.client
    const client = await register()
    await this.#parts.store.keepClient(ref, this.#seal('client', { at, client }))
    return client
  }

  /** A mark distinguishes the kinds of sealed values, so that none is taken for another. */
  #seal(kind: string, value: object): string {
    return this.#parts.box.seal(`${markOf(kind)}${JSON.stringify(value)}`)
  }

  #open<T>(kind: string, sealed: string): T {
    const text = this.#parts.box.open(sealed)
    if (!text.startsWith(markOf(kind)))
      throw new TooldexError('SECRET_UNAVAILABLE', 'A stored sign-in is damaged.', { hint: 'Sign in again.' })
    return JSON.parse(text.slice(markOf(kind).length)) as T
  }
}

interface Registration {
  /** The authorization server, and the origin of this server. */
  readonly at: string
  readonly client: ClientInformation
}

const changed = (): TooldexError =>
  new TooldexError('STALE', 'The source has changed since the sign-in began.', { hint: 'Begin the sign-in again.' })

const markOf = (kind: string): string => `tooldex sign-in ${kind} `

const keyOf = ({ workspace, name, caller }: SignInRef): string =>
  createHash('sha256')
    .update(JSON.stringify([workspace, name, caller]))
    .digest('base64url')
