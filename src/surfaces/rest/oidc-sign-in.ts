import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Context } from 'hono'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import { TooldexError } from '../../base/errors.ts'
import type { SecretBox } from '../../contract/secret.ts'
import { type OAuthSettings, tokenScopes } from './access-tokens.ts'
import { AuthorizationServer } from './authorization-server.ts'
import { portOf, SealedValues } from './sessions.ts'

/** A sign-in that a browser began; only the same browser can finish it, once and in time. */
interface PendingSignIn {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
  /** The path to return to. */
  readonly to: string
  readonly expiresAt: number
}

/** The proof of a finished sign-in. */
interface FinishedSignIn {
  readonly accessToken: string
  readonly subject: string
  readonly to: string
}

/** The authorization server denied the sign-in, or the person canceled it. */
export class SignInDenied extends Error {}

const path = '/session'
const maxPendingMs = 10 * 60_000
const maxPath = 500
const purpose = 'sign-in'

/** Signs people in to the console at the authorization server: OpenID Connect, authorization code with PKCE. */
export class OidcSignIn {
  readonly #settings: OAuthSettings
  readonly #client: NonNullable<OAuthSettings['client']>
  readonly #server: AuthorizationServer
  readonly #sealed: SealedValues<PendingSignIn>
  /** Whether browsers reach this server over TLS. */
  readonly isSecure: boolean

  constructor(settings: OAuthSettings, client: NonNullable<OAuthSettings['client']>, box: SecretBox | undefined) {
    this.#settings = settings
    this.#client = client
    this.#server = new AuthorizationServer(settings.issuer)
    this.#sealed = new SealedValues(box, purpose)
    this.isSecure = settings.resource.startsWith('https:')
  }

  /** The host that people sign in at. */
  get host(): string {
    return new URL(this.#settings.issuer).host
  }

  /** The URL to send the browser to; the secrets of the sign-in are in a cookie that scripts cannot read. */
  async begin(c: Context): Promise<string> {
    const { authorizationEndpoint } = await this.#server.metadata()
    if (authorizationEndpoint === undefined)
      throw new TooldexError('UNAVAILABLE', `${this.host} has no authorization endpoint.`)
    const [state, nonce, verifier] = [secret(), secret(), secret()]
    const to = localPath(c.req.query('to'))
    const pending = { state, nonce, verifier, to, expiresAt: Date.now() + maxPendingMs }
    // Lax: the callback is a navigation that another site starts.
    const cookie = {
      httpOnly: true,
      sameSite: 'Lax',
      path,
      secure: this.isSecure,
      maxAge: maxPendingMs / 1000,
    } as const
    setCookie(c, cookieName(c), this.#sealed.seal(pending), cookie)
    const url = new URL(authorizationEndpoint)
    const query = {
      response_type: 'code',
      client_id: this.#client.id,
      redirect_uri: this.#redirectUri,
      scope: ['openid', ...Object.values(tokenScopes)].join(' '),
      resource: this.#settings.resource,
      state,
      nonce,
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
    }
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
    return url.href
  }

  /** Exchanges the code of the callback; every refusal ends the sign-in. */
  async finish(c: Context): Promise<FinishedSignIn> {
    const pending = this.#sealed.open(getCookie(c, cookieName(c)) ?? '')
    deleteCookie(c, cookieName(c), { path, secure: this.isSecure })
    const { state, code, error, iss } = c.req.query()
    if (pending === undefined || pending.expiresAt < Date.now() || !isEqual(state ?? '', pending.state))
      throw refused('This browser has not begun this sign-in, or it began more than ten minutes ago.')
    if (iss !== undefined && iss !== this.#settings.issuer) throw refused('The answer is of another issuer.')
    if (error !== undefined) throw new SignInDenied(error.slice(0, 100))
    if (code === undefined) throw refused('The answer has no code.')
    const { access_token: accessToken, id_token: idToken } = await this.#server.requestToken(
      new URLSearchParams({
        grant_type: 'authorization_code',
        code,
        redirect_uri: this.#redirectUri,
        code_verifier: pending.verifier,
        resource: this.#settings.resource,
        ...(this.#client.secret === undefined ? { client_id: this.#client.id } : {}),
      }),
      this.#clientHeaders,
    )
    if (typeof accessToken !== 'string' || typeof idToken !== 'string') throw refused('The answer lacks a token.')
    const { sub = '', nonce } = await this.#server.verify(idToken, this.#client.id)
    if (typeof nonce !== 'string' || !isEqual(nonce, pending.nonce)) throw refused('The token is of another sign-in.')
    return { accessToken, subject: sub, to: pending.to }
  }

  get #redirectUri(): string {
    return `${new URL(this.#settings.resource).origin}${path}/callback`
  }

  get #clientHeaders(): Record<string, string> {
    const { id, secret } = this.#client
    if (secret === undefined) return {}
    const credentials = `${encodeURIComponent(id)}:${encodeURIComponent(secret)}`
    return { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` }
  }
}

const cookieName = (c: Context): string => `tooldex_sign_in_${portOf(c)}`
const secret = (): string => randomBytes(32).toString('base64url')
const refused = (reason: string) => new TooldexError('FORBIDDEN', reason, { hint: 'Sign in again.' })
const hash = (text: string) => createHash('sha256').update(text).digest()
const isEqual = (one: string, other: string): boolean => timingSafeEqual(hash(one), hash(other))

/** A path of this server without a fragment, which may sign in; anything else, such as `//host`, is the home page. */
const localPath = (to = '/'): string =>
  /^\/(?![/\\])[\x21\x22\x24-\x7e]*$/.test(to) && to.length <= maxPath ? to : '/'
