import { createRemoteJWKSet, customFetch, errors, type JWTPayload, jwtVerify } from 'jose'
import { TooldexError } from '../../base/errors.ts'
import { isObject } from '../../base/json-values.ts'
import { untilAborted } from '../../base/until-aborted.ts'

/** Where an authorization server publishes its keys, and where it signs people in. */
interface ServerMetadata {
  readonly keys: ReturnType<typeof createRemoteJWKSet>
  readonly authorizationEndpoint?: string
  readonly tokenEndpoint?: string
}

const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA']
const fetchMs = 5000
const maxFetchBytes = 1024 * 1024
// An unknown key makes the published ones be read again, at most this often.
const refetchMs = 1000
const clockToleranceSeconds = 30

/** An authorization server, found by its issuer; its keys may rotate at any time. */
export class AuthorizationServer {
  readonly issuer: string
  #metadata: Promise<ServerMetadata> | undefined

  constructor(issuer: string) {
    this.issuer = issuer
  }

  /** Its metadata, read once. */
  metadata(): Promise<ServerMetadata> {
    this.#metadata ??= discover(this.issuer).catch((thrown: unknown) => {
      // The next request tries again.
      this.#metadata = undefined
      throw thrown
    })
    return this.#metadata
  }

  /** The claims of a token of this server for an audience; throws an error of the library for a token that is not one. */
  async verify(token: string, audience: string): Promise<JWTPayload> {
    const { keys } = await this.metadata()
    const options = { issuer: this.issuer, audience, algorithms, clockTolerance: clockToleranceSeconds }
    try {
      return (await jwtVerify(token, keys, { ...options, requiredClaims: ['sub', 'exp'] })).payload
    } catch (thrown) {
      throw isOutage(thrown) ? unreachable(this.issuer, thrown) : thrown
    }
  }

  /** Sends a form to its token endpoint, and returns the fields of the response. */
  async requestToken(form: URLSearchParams, headers: Record<string, string>): Promise<Record<string, unknown>> {
    const { tokenEndpoint = '' } = await this.metadata()
    const init = { method: 'POST', headers: { ...headers, accept: 'application/json' }, body: form }
    const response = await fetchBounded(tokenEndpoint, { ...init, signal: AbortSignal.timeout(fetchMs) })
    const fields: unknown = await response.json()
    if (response.ok && isObject(fields)) return fields
    const reason = isObject(fields) && typeof fields.error === 'string' ? fields.error : `HTTP ${response.status}`
    throw new Error(`the token endpoint answered ${reason.slice(0, 100)}`)
  }
}

/** Whether nobody between here and the host can read or change what is sent. */
export const isSafe = ({ protocol, hostname }: URL): boolean =>
  protocol === 'https:' || (protocol === 'http:' && /^(?:127\.|\[::1\]|localhost$)/.test(hostname))

/** Reads the metadata of an authorization server: RFC 8414 first, then OpenID Connect. */
async function discover(issuer: string): Promise<ServerMetadata> {
  const { origin, pathname } = new URL(issuer)
  const path = pathname.replace(/\/$/, '')
  const places = [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}${path}/.well-known/openid-configuration`,
  ]
  let reason: unknown
  for (const place of places) {
    try {
      const response = await fetchBounded(place, { signal: AbortSignal.timeout(fetchMs) })
      const metadata = (await response.json()) as Record<string, unknown>
      const keys = readUrl(metadata.jwks_uri)
      if (metadata.issuer !== issuer || keys === undefined) continue
      const options = { timeoutDuration: fetchMs, cooldownDuration: refetchMs, [customFetch]: fetchBounded }
      const [authorizationEndpoint, tokenEndpoint] = [
        readUrl(metadata.authorization_endpoint),
        readUrl(metadata.token_endpoint),
      ]
      return {
        keys: createRemoteJWKSet(keys, options),
        ...(authorizationEndpoint && { authorizationEndpoint: authorizationEndpoint.href }),
        ...(tokenEndpoint && { tokenEndpoint: tokenEndpoint.href }),
      }
    } catch (thrown) {
      reason = thrown
    }
  }
  throw unreachable(issuer, reason)
}

function readUrl(value: unknown): URL | undefined {
  if (typeof value !== 'string') return undefined
  const url = new URL(value)
  if (isSafe(url)) return url
  throw new Error(`${value.slice(0, 200)} is not an https URL`)
}

/** Fetches a small document of the authorization server, without redirects. */
async function fetchBounded(url: string, init: RequestInit): Promise<Response> {
  const response = await fetch(url, { ...init, redirect: 'error' })
  const reading = readBounded(response)
  return init.signal ? untilAborted(reading, init.signal) : reading
}

async function readBounded({ status, headers, body }: Response): Promise<Response> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body ?? []) {
    bytes += chunk.length
    if (bytes > maxFetchBytes) throw new Error(`the response is larger than ${maxFetchBytes} bytes`)
    chunks.push(chunk)
  }
  return new Response(Buffer.concat(chunks), { status, headers })
}

const isOutage = (thrown: unknown): boolean =>
  thrown instanceof errors.JWKSTimeout || !(thrown instanceof errors.JOSEError) || thrown.code === 'ERR_JOSE_GENERIC'

const unreachable = (issuer: string, cause: unknown): TooldexError =>
  new TooldexError('UNAVAILABLE', `The keys of the authorization server ${issuer} cannot be read.`, {
    hint: 'Try again later, or use an API key.',
    cause,
  })
