import {
  type AuthorizationServerMetadata,
  exchangeAuthorization,
  type OAuthClientInformationMixed,
  OAuthError,
  type OAuthTokens,
  refreshAuthorization,
  registerClient,
  startAuthorization,
} from '@modelcontextprotocol/client'
import { TooldexError } from '../../base/errors.ts'
import type { HttpServer } from '../../contract/mcp-server.ts'
import { callbackPath, clientMetadata, clientMetadataPath, type SignInReturn } from '../../contract/sign-in.ts'
import { causesOfError } from '../network/run-remote.ts'
import {
  type Discovered,
  type OAuthRequests,
  openOAuthRequests,
  revocationOf,
  signInFailed,
} from './oauth-discovery.ts'

/** The part of an authorization server that requests for tokens need. */
export type TokenServer = Pick<
  AuthorizationServerMetadata,
  'issuer' | 'authorization_endpoint' | 'token_endpoint' | 'response_types_supported'
> & { readonly [field: string]: unknown }

/** The client at an authorization server. */
export type ClientInformation = OAuthClientInformationMixed

/** A sign-in that a browser has begun, until it returns with a code. */
export interface Exchange {
  /** The URL of the MCP server. */
  readonly url: string
  readonly server: TokenServer
  readonly client: ClientInformation
  readonly redirectUri: string
  readonly resource: string
  readonly verifier: string
  readonly scope: string | null
  readonly expiresAt: number
}

/** The tokens of a sign-in, with everything that refreshing them needs. */
export interface TokenSet extends Pick<Exchange, 'url' | 'server' | 'client' | 'resource' | 'scope'> {
  readonly access: string
  readonly refresh: string | null
  /** The time in milliseconds; null where it is unknown. */
  readonly expiresAt: number | null
}

/** A client that needs no registration: the authorization server reads a document of this server. */
export function documentClient(metadata: AuthorizationServerMetadata, origin: string): ClientInformation | undefined {
  const { client_id_metadata_document_supported: isSupported } = metadata as Record<string, unknown>
  return isSupported === true && origin.startsWith('https:') ? { client_id: origin + clientMetadataPath } : undefined
}

/** Registers a client at an authorization server. */
export async function register(
  { metadata }: Pick<Discovered, 'metadata'>,
  origin: string,
  { fetch }: OAuthRequests,
): Promise<ClientInformation> {
  const { host } = new URL(metadata.issuer)
  if (metadata.registration_endpoint === undefined)
    throw signInFailed(
      `${host} registers no clients; set oauth.clientId of the source to one that was registered there.`,
    )
  const methods = metadata.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
  const method = ['none', 'client_secret_basic', 'client_secret_post'].find((each) => methods.includes(each))
  if (method === undefined) throw signInFailed(`${host} supports no method of authentication that is known here.`)
  return registerClient(metadata.issuer, { metadata, clientMetadata: clientMetadata(origin, method), fetchFn: fetch })
}

/** The request that a browser makes at the authorization server, and what its return needs. */
export async function authorize(
  { url }: HttpServer,
  { metadata, resource, scope }: Discovered,
  {
    client,
    origin,
    state,
    withinMs,
  }: {
    readonly client: ClientInformation
    readonly origin: string
    readonly state: string
    readonly withinMs: number
  },
): Promise<{ readonly authorizationUrl: URL; readonly exchange: Exchange }> {
  const redirectUri = origin + callbackPath
  const { authorizationUrl, codeVerifier: verifier } = await startAuthorization(metadata.issuer, {
    metadata,
    clientInformation: client,
    redirectUrl: redirectUri,
    state,
    resource,
    ...(scope === undefined ? {} : { scope }),
  })
  const server = toTokenServer(metadata)
  const expiresAt = Date.now() + withinMs
  return {
    authorizationUrl,
    exchange: { url, server, client, redirectUri, resource, verifier, scope: scope ?? null, expiresAt },
  }
}

function toTokenServer(metadata: AuthorizationServerMetadata): TokenServer {
  const { issuer, authorization_endpoint, token_endpoint, response_types_supported } = metadata
  const { token_endpoint_auth_methods_supported: methods } = metadata
  const { authorization_response_iss_parameter_supported: hasIssuer } = metadata as Record<string, unknown>
  return {
    ...{ issuer, authorization_endpoint, token_endpoint, response_types_supported },
    ...(methods === undefined ? {} : { token_endpoint_auth_methods_supported: methods }),
    ...(hasIssuer === true ? { authorization_response_iss_parameter_supported: true } : {}),
    ...(revocationOf(metadata) === undefined ? {} : { revocation_endpoint: revocationOf(metadata) }),
  }
}

/** Exchanges the code of a browser for tokens; an answer of another issuer is refused before anything of it is used. */
export async function exchangeCode(server: HttpServer, exchange: Exchange, answer: SignInReturn): Promise<TokenSet> {
  const { issuer } = exchange.server
  const { iss, code, error } = answer
  const needsIssuer = exchange.server.authorization_response_iss_parameter_supported === true
  if (iss === undefined ? needsIssuer : iss !== issuer)
    throw signInFailed(`the answer does not come from ${new URL(issuer).host}.`)
  if (error !== undefined) throw signInFailed(`${new URL(issuer).host} answered ${codeOf(error)}.`)
  if (code === undefined || exchange.expiresAt < Date.now()) throw signInFailed('it took too long, or has no code.')
  return request(server, exchange, (fetchFn) =>
    exchangeAuthorization(issuer, {
      metadata: exchange.server as AuthorizationServerMetadata,
      clientInformation: exchange.client,
      authorizationCode: code,
      codeVerifier: exchange.verifier,
      redirectUri: exchange.redirectUri,
      resource: exchange.resource,
      fetchFn,
      ...(iss === undefined ? {} : { iss }),
    }),
  )
}

/** Refreshes tokens; `undefined` where the authorization server has ended the sign-in. */
export async function refreshTokens(server: HttpServer, tokens: TokenSet): Promise<TokenSet | undefined> {
  const { refresh } = tokens
  if (refresh === null) return undefined
  try {
    return await request(server, tokens, (fetchFn) =>
      refreshAuthorization(tokens.server.issuer, {
        metadata: tokens.server as AuthorizationServerMetadata,
        clientInformation: tokens.client,
        refreshToken: refresh,
        resource: tokens.resource,
        fetchFn,
      }),
    )
  } catch (thrown) {
    const refused = causesOfError(thrown).find((each) => each instanceof OAuthError)
    if (refused instanceof OAuthError && endingCodes.has(refused.code)) return undefined
    throw thrown
  }
}

const endingCodes = new Set<string>(['invalid_grant', 'invalid_client', 'unauthorized_client', 'invalid_target'])

/** Ends tokens at the authorization server, as far as it can do that. */
export async function revoke(server: HttpServer, tokens: TokenSet): Promise<void> {
  const { revocation_endpoint: endpoint } = tokens.server
  if (typeof endpoint !== 'string') return
  const { client_id, client_secret } = tokens.client
  const secret = client_secret === undefined ? {} : { client_secret }
  const body = new URLSearchParams({ token: tokens.refresh ?? tokens.access, client_id, ...secret })
  const requests = openOAuthRequests(server)
  try {
    await requests.fetch(endpoint, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body,
    })
  } finally {
    await requests.close()
  }
}

type Base = Pick<TokenSet, 'url' | 'server' | 'client' | 'resource' | 'scope'>

async function request(
  server: HttpServer,
  base: Base,
  send: (fetch: OAuthRequests['fetch']) => Promise<OAuthTokens>,
): Promise<TokenSet> {
  const requests = openOAuthRequests(server)
  try {
    const { access_token, refresh_token, expires_in, scope, token_type } = await send(requests.fetch)
    if (token_type.toLowerCase() !== 'bearer') throw signInFailed('the token is not of the type Bearer.')
    const { url, client, resource } = base
    return {
      ...{ url, server: base.server, client, resource },
      scope: scope ?? base.scope,
      access: access_token,
      refresh: refresh_token ?? null,
      expiresAt: expires_in === undefined ? null : Date.now() + Number(expires_in) * 1000,
    }
  } catch (thrown) {
    throw describeOAuth(thrown, base.server.issuer)
  } finally {
    await requests.close()
  }
}

/** The failure of a request to an authorization server; its texts may contain anything and are not shown. */
export function describeOAuth(thrown: unknown, issuer: string): TooldexError {
  const own = causesOfError(thrown).find((each) => each instanceof TooldexError)
  if (own instanceof TooldexError) return own
  const host = URL.canParse(issuer) ? new URL(issuer).host : 'the authorization server'
  if (thrown instanceof OAuthError) {
    const code = codeOf(thrown.code)
    return signInFailed(`${host} answered ${code}.`, new OAuthError(code, code))
  }
  const { name } = thrown as Error
  if (name === 'IssuerMismatchError') return signInFailed(`${host} is not the issuer that it names.`)
  if (name === 'RegistrationRejectedError') return signInFailed(`${host} rejected the registration of a client.`)
  if (name === 'TimeoutError') return signInFailed(`${host} did not answer in time.`)
  return signInFailed(`${host} could not be reached, or its answer is not valid.`)
}

const codeOf = (error: string): string => (/^[a-z_]{1,60}$/.test(error) ? error : 'with an unknown error')
