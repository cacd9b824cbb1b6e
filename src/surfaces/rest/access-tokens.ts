import { createHash } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import { errors, type JWTPayload } from 'jose'
import { TooldexError } from '../../base/errors.ts'
import { hasInvisible } from '../../base/invisible-characters.ts'
import { isObject } from '../../base/json-values.ts'
import type { Scope } from '../../operations/operation.ts'
import { readSetting } from '../../rules/settings.ts'
import { AuthorizationServer, isSafe } from './authorization-server.ts'

/** The authorization server whose access tokens are accepted. */
export interface OAuthSettings {
  readonly issuer: string
  /** The URL that tokens must be issued for: that of the MCP endpoint. */
  readonly resource: string
  /** The workspace of callers with a token. */
  readonly workspace: string
  /** The claim with the groups of the caller. */
  readonly groupsClaim: string
  /** The client that signs people in to the console; without it they need a key. */
  readonly client?: { readonly id: string; readonly secret: string | undefined } | undefined
}

/** A verified access token. */
export interface AccessToken {
  readonly subject: string
  readonly groups: readonly string[]
  readonly scopes: readonly Scope[]
  /** Aborted with the error of the response when it expires. */
  readonly expired: AbortSignal
}

/** The scopes of tokens, by the scope that each one grants. */
export const tokenScopes: Readonly<Record<Scope, string>> = {
  read: 'tooldex:read',
  call: 'tooldex:call',
  write: 'tooldex:write',
  admin: 'tooldex:admin',
}
const maxVerified = 1000
const maxSubject = 250
const maxGroups = 200
const maxTimerMs = 2 ** 31 - 1
const renewHint = 'Request a new token from the authorization server, for the resource in the metadata.'

/** Reads the settings of OAuth; undefined without an issuer. */
export function readOAuthSettings(env: NodeJS.ProcessEnv): OAuthSettings | undefined {
  const issuer = readSetting('TOOLDEX_OAUTH_ISSUER', env)
  const resource = readSetting('TOOLDEX_OAUTH_RESOURCE', env)
  if (!issuer) return undefined
  requireUrl('TOOLDEX_OAUTH_ISSUER', issuer, 'the URL of your authorization server, such as https://login.example.org')
  requireUrl(
    'TOOLDEX_OAUTH_RESOURCE',
    resource ?? '',
    'the URL of the MCP endpoint as clients know it, such as https://tools.example.org/mcp',
  )
  const id = readSetting('TOOLDEX_OAUTH_CLIENT_ID', env)
  const secret = readSetting('TOOLDEX_OAUTH_CLIENT_SECRET', env) || undefined
  return {
    issuer,
    client: id ? { id, secret } : undefined,
    resource: resource as string,
    workspace: readSetting('TOOLDEX_OAUTH_WORKSPACE', env) || 'default',
    groupsClaim: readSetting('TOOLDEX_OAUTH_GROUPS', env) || 'groups',
  }
}

function requireUrl(name: string, value: string, what: string): void {
  const url = URL.canParse(value) ? new URL(value) : undefined
  if (url !== undefined && isSafe(url) && url.hash === '' && url.search === '') return
  throw new TooldexError('USAGE', `${name} is not an https URL without query: '${value.slice(0, 200)}'.`, {
    hint: `Set it to ${what}.`,
  })
}

/** The metadata of the protected resource (RFC 9728). */
export const resourceMetadata = ({ issuer, resource }: OAuthSettings) => ({
  resource,
  resource_name: 'Tooldex',
  authorization_servers: [issuer],
  scopes_supported: Object.values(tokenScopes),
  bearer_methods_supported: ['header'],
})

/** The URL of the metadata: the well-known path is inserted before the path of the resource. */
export function metadataUrl({ resource }: OAuthSettings): string {
  const { origin, pathname } = new URL(resource)
  return `${origin}/.well-known/oauth-protected-resource${pathname === '/' ? '' : pathname}`
}

/** Whether a bearer credential has the form of a JSON Web Token, which no key of Tooldex has. */
export const isToken = (secret: string): boolean => /^ey[\w-]+\.[\w-]+\.[\w-]+$/.test(secret)

/** Verifies access tokens with the published keys of the authorization server, which it may rotate at any time. */
export class TokenVerifier {
  readonly #settings: OAuthSettings
  /** Tokens in use, so that the signature is checked once. */
  readonly #verified = new Map<string, AccessToken>()
  readonly #server: AuthorizationServer

  constructor(settings: OAuthSettings) {
    this.#settings = settings
    this.#server = new AuthorizationServer(settings.issuer)
  }

  async verify(token: string): Promise<AccessToken> {
    const hash = hashToken(token)
    const known = this.#verified.get(hash)
    if (known !== undefined && !known.expired.aborted) return known
    const verified = await this.#verify(token)
    if (this.#verified.size >= maxVerified) this.#verified.clear()
    this.#verified.set(hash, verified)
    return verified
  }

  async #verify(token: string): Promise<AccessToken> {
    const { resource, groupsClaim } = this.#settings
    try {
      return readClaims(await this.#server.verify(token, resource), groupsClaim)
    } catch (thrown) {
      throw thrown instanceof TooldexError ? thrown : invalid(thrown)
    }
  }
}

function readClaims(payload: JWTPayload, groupsClaim: string): AccessToken {
  const { sub = '', exp = 0, scope, scp } = payload
  if (!isRecordable(sub))
    throw new errors.JWTInvalid(`the subject is longer than ${maxSubject} characters or has invisible ones`)
  const granted = new Set([scope, scp].flatMap((claim) => (typeof claim === 'string' ? claim.split(' ') : claim)))
  const scopes = (Object.keys(tokenScopes) as Scope[]).filter((name) => granted.has(tokenScopes[name]))
  return { subject: sub, groups: readGroups(payload, groupsClaim), scopes, expired: expiryOf(exp * 1000) }
}

/** Whether a name can be part of records, policies and logs. */
const isRecordable = (name: string): boolean =>
  name.length <= maxSubject && !hasInvisible(name) && !/[\r\n\t]/.test(name)

/** The groups in a claim: an array of names, or one name; a token with other ones is invalid, because a policy may restrict them. */
function readGroups(payload: JWTPayload, claim: string): readonly string[] {
  const parts = claim.split('.')
  const nested = parts.reduce<unknown>((value, part) => (isObject(value) ? ownOf(value, part) : undefined), payload)
  const groups = [ownOf(payload, claim) ?? nested ?? []].flat()
  const isValid = (group: unknown) => typeof group === 'string' && group !== '' && isRecordable(group)
  if (groups.length <= maxGroups && groups.every(isValid)) return groups as string[]
  throw new errors.JWTInvalid(`the claim ${claim} is not a list of at most ${maxGroups} names`)
}

const ownOf = (value: object, key: string): unknown =>
  Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined

const hashToken = (token: string): string => createHash('sha256').update(token).digest('hex')

function expiryOf(at: number): AbortSignal {
  const ending = new AbortController()
  // Every call with the token adds a listener.
  setMaxListeners(0, ending.signal)
  const error = new TooldexError('UNAUTHORIZED', 'The access token has expired.', { hint: renewHint })
  setTimeout(() => ending.abort(error), Math.min(Math.max(at - Date.now(), 0), maxTimerMs)).unref()
  return ending.signal
}

/** Whether a token was refused for another reason than its age: clients send a token until they learn that it has expired. */
export const isWrongToken = (thrown: unknown): thrown is TooldexError =>
  thrown instanceof TooldexError && thrown.code === 'UNAUTHORIZED' && !(thrown.cause instanceof errors.JWTExpired)

function invalid(cause: unknown): TooldexError {
  const reason = cause instanceof errors.JWTExpired ? 'has expired' : 'is not valid for this server'
  return new TooldexError('UNAUTHORIZED', `The access token ${reason}.`, {
    hint: renewHint,
    cause,
  })
}
