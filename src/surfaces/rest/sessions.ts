import type { Context } from 'hono'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import { decodeJwt } from 'jose'
import { TooldexError } from '../../base/errors.ts'
import { isObject } from '../../base/json-values.ts'
import type { SecretBox } from '../../contract/secret.ts'
import type { Credential } from './authenticate.ts'

/** A session: a credential until a time. */
export interface BrowserSession {
  readonly credential: Credential
  readonly expiresAt: number
}

/** The header of every request with a session. Pages of other origins cannot send it without permission. */
const sessionHeader = 'x-tooldex-session'
const sessionHours = 12
// A stored secret cannot be opened as a session.
const purpose = 'session'
// Browsers drop cookies above 4096 bytes.
const maxCookie = 3900

/** Sessions of browsers: sealed cookies that contain no key, so a server keeps none and all replicas accept each. */
export class SessionCookies {
  readonly #sealed: SealedValues<BrowserSession>

  constructor(box: SecretBox | undefined) {
    this.#sealed = new SealedValues(box, purpose)
  }

  /** Reads the session of a request; undefined without a cookie. Requests that a page of another origin could send are rejected. */
  read(c: Context): BrowserSession | undefined {
    const sealed = getCookie(c, cookieName(c))
    if (sealed === undefined || sealed === '') return undefined
    requireOwnPage(c)
    const session = this.#sealed.open(sealed)
    if (session !== undefined && session.expiresAt > Date.now()) return session
    throw new TooldexError('UNAUTHORIZED', 'The session has expired.', { hint: 'Sign in again.' })
  }

  /** Starts a session of the page that sent the request. */
  start(c: Context, credential: Credential): BrowserSession {
    requireOwnPage(c)
    return this.startAfter(c, credential, attributes(c).secure)
  }

  /** Starts a session after a sign-in elsewhere, which has proven that this browser began it. */
  startAfter(c: Context, credential: Credential, secure: boolean): BrowserSession {
    const session = { credential, expiresAt: Math.min(Date.now() + sessionHours * 3_600_000, endOf(credential)) }
    const sealed = this.#sealed.seal(session)
    if (sealed.length > maxCookie)
      throw new TooldexError('TOO_LARGE', 'The access token is too long for a session.', { hint: 'Use an API key.' })
    const maxAge = Math.max(0, Math.ceil((session.expiresAt - Date.now()) / 1000))
    setCookie(c, cookieName(c), sealed, { ...attributes(c), secure, maxAge })
    return session
  }

  /** Ends the session in the browser of the request. */
  end(c: Context): void {
    deleteCookie(c, cookieName(c), attributes(c))
  }
}

/** The end of an access token, which was verified before; a key has none that is known here. */
function endOf(credential: Credential): number {
  if (!('token' in credential)) return Number.POSITIVE_INFINITY
  const { exp } = decodeJwt(credential.token)
  return exp === undefined ? Number.POSITIVE_INFINITY : exp * 1000
}

const cookieName = (c: Context): string => `tooldex_session_${portOf(c)}`

/** Browsers share cookies between the ports of a host, so each port has names of its own. */
export const portOf = (c: Context): string => new URL(c.req.url).port || 'default'

/** The origin shows whether the browser uses TLS, which a proxy may terminate. */
const attributes = (c: Context) =>
  ({
    httpOnly: true,
    sameSite: 'Strict',
    path: '/',
    secure: c.req.header('origin')?.startsWith('https:') === true,
  }) as const

/** A cookie is sent with requests of other pages too, so it counts only with proof that the page is our own. */
export function requireOwnPage(c: Context): void {
  const site = c.req.header('sec-fetch-site')
  const origin = c.req.header('origin')
  const isReading = c.req.method === 'GET' || c.req.method === 'HEAD'
  const isOwn = site === undefined ? isOwnOrigin(origin, c.req.header('host'), isReading) : site === 'same-origin'
  if (isOwn && c.req.header(sessionHeader) !== undefined) return
  throw new TooldexError('FORBIDDEN', 'A session is accepted only from pages of this server.', {
    hint: `Send the header ${sessionHeader} from a page of the server, or an API key in the Authorization header.`,
  })
}

/** Browsers omit the Origin when a page reads from its own server. */
function isOwnOrigin(origin: string | undefined, host: string | undefined, isReading: boolean): boolean {
  if (origin === undefined) return isReading
  return URL.canParse(origin) && new URL(origin).host === host
}

/** Values that only this server, or a replica with its key, can have sealed, each kind for its own purpose. */
export class SealedValues<Value extends object> {
  readonly #box: SecretBox | undefined
  readonly #purpose: string

  constructor(box: SecretBox | undefined, purpose: string) {
    this.#box = box
    this.#purpose = purpose
  }

  seal(value: Value): string {
    if (this.#box === undefined) throw new TooldexError('SECRET_UNAVAILABLE', 'Sessions cannot be sealed here.')
    return this.#box.seal(JSON.stringify(value), this.#purpose)
  }

  /** The value of a sealed text; undefined if it was sealed with another key or for another purpose, or is damaged. */
  open(sealed: string): Value | undefined {
    try {
      const value: unknown = this.#box === undefined ? undefined : JSON.parse(this.#box.open(sealed, this.#purpose))
      return isObject(value) ? (value as Value) : undefined
    } catch {
      return undefined
    }
  }
}
