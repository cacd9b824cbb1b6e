import {
  type AuthorizationServerMetadata,
  checkResourceAllowed,
  discoverAuthorizationServerMetadata,
  discoverOAuthProtectedResourceMetadata,
  extractWWWAuthenticateParams,
  type FetchLike,
  LATEST_PROTOCOL_VERSION,
  type OAuthProtectedResourceMetadata,
  resourceUrlFromServerUrl,
} from '@modelcontextprotocol/client'
import { Agent, fetch } from 'undici'
import { TooldexError } from '../../base/errors.ts'
import { packageVersion } from '../../base/package-info.ts'
import type { HttpServer } from '../../contract/mcp-server.ts'
import { checkHostAddress, publicLookupBut } from '../network/guard-address.ts'

/** The authorization server of an MCP server, and what to request from it. */
export interface Discovered {
  readonly metadata: AuthorizationServerMetadata
  /** The resource that tokens are issued for, as the server names it. */
  readonly resource: string
  readonly scope: string | undefined
}

/** A failure of a sign-in with its reason, which contains no text of another server. */
export const signInFailed = (reason: string, cause?: unknown): TooldexError =>
  new TooldexError('UPSTREAM_ERROR', `The sign-in failed: ${reason}`, {
    hint: 'Check the OAuth settings of the MCP server and of its authorization server, then sign in again.',
    ...(cause === undefined ? {} : { cause }),
  })

/** Finds the authorization server that protects a server, from its response to a request without a token. */
export async function discover(
  server: HttpServer,
  headers: Readonly<Record<string, string>>,
  requests: OAuthRequests,
): Promise<Discovered> {
  const challenge = extractWWWAuthenticateParams(await knock(server, headers, requests))
  const resourceMetadata = await readResource(server, challenge.resourceMetadataUrl, requests)
  const issuer = resourceMetadata?.authorization_servers?.[0] ?? new URL('/', server.url).href
  checkOAuthUrl(server, issuer)
  const metadata = await discoverAuthorizationServerMetadata(issuer, { fetchFn: requests.fetch })
  if (metadata === undefined) throw signInFailed(`${new URL(issuer).host} publishes no metadata of its endpoints.`)
  checkEndpoints(server, metadata)
  const own = resourceUrlFromServerUrl(server.url)
  return {
    metadata,
    resource: resourceMetadata?.resource ?? own.href,
    scope: scopeOf(server.oauth?.scope ?? challenge.scope ?? resourceMetadata?.scopes_supported?.join(' '), metadata),
  }
}

/** A request without a token, which a server answers with the location of its metadata. */
function knock(
  { url, type }: HttpServer,
  headers: Readonly<Record<string, string>>,
  { fetch }: OAuthRequests,
): Promise<Response> {
  if (type === 'sse') return fetch(url, { headers: { ...headers, accept: 'text/event-stream' } })
  const params = {
    protocolVersion: LATEST_PROTOCOL_VERSION,
    capabilities: {},
    clientInfo: { name: 'tooldex', version: packageVersion() },
  }
  return fetch(url, {
    method: 'POST',
    headers: { ...headers, accept: 'application/json, text/event-stream', 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }),
  })
}

/** The metadata of the resource must be on the server that it describes, and name it. */
async function readResource(
  { url }: HttpServer,
  named: URL | undefined,
  requests: OAuthRequests,
): Promise<OAuthProtectedResourceMetadata | undefined> {
  const own = resourceUrlFromServerUrl(url)
  if (named !== undefined && named.origin !== own.origin)
    throw signInFailed(`the server refers to metadata on another host, ${named.host}.`)
  const options = named === undefined ? {} : { resourceMetadataUrl: named }
  const found = await discoverOAuthProtectedResourceMetadata(url, options, requests.fetch).catch((error: unknown) => {
    // Servers of the first revision with authorization are their own authorization server.
    const isMissing = named === undefined && requests.status() >= 400 && requests.status() < 500
    if (isMissing) return undefined
    throw error
  })
  if (found === undefined) return undefined
  if (checkResourceAllowed({ requestedResource: own, configuredResource: found.resource })) return found
  throw signInFailed(`the metadata of ${own.host} is for another resource.`)
}

function checkEndpoints(server: HttpServer, metadata: AuthorizationServerMetadata): void {
  const { authorization_endpoint, token_endpoint, registration_endpoint, issuer } = metadata
  for (const endpoint of [authorization_endpoint, token_endpoint, registration_endpoint, revocationOf(metadata)])
    if (endpoint !== undefined) checkOAuthUrl(server, endpoint)
  if (metadata.code_challenge_methods_supported?.includes('S256') !== true)
    throw signInFailed(`${new URL(issuer).host} does not support PKCE with S256.`)
}

/** The endpoint that ends tokens, which not every authorization server has. */
export function revocationOf(metadata: AuthorizationServerMetadata): string | undefined {
  const { revocation_endpoint } = metadata as { revocation_endpoint?: unknown }
  return typeof revocation_endpoint === 'string' ? revocation_endpoint : undefined
}

/** Refresh tokens of OpenID providers need a scope of their own. */
function scopeOf(scope: string | undefined, { scopes_supported }: AuthorizationServerMetadata): string | undefined {
  if (scope === undefined || scopes_supported?.includes('offline_access') !== true) return scope
  return scope.split(' ').includes('offline_access') ? scope : `${scope} offline_access`.trim()
}

const requestMs = 15_000
const maxBytes = 128 * 1024
const agentOptions = { headersTimeout: requestMs, bodyTimeout: requestMs, maxHeaderSize: 32 * 1024, connections: 4 }

/** Requests of an OAuth client: bounded, to public hosts with TLS, without redirects to another origin. */
export interface OAuthRequests {
  readonly fetch: FetchLike
  /** The status of the last response; 0 before the first. */
  readonly status: () => number
  close(): Promise<void>
}

/** Only the host of the server itself, whose URL was approved, may be private or without TLS. */
export function checkOAuthUrl(server: HttpServer, text: string | URL): URL {
  if (!URL.canParse(String(text))) throw refused('an authorization server named an invalid URL.')
  const url = new URL(text)
  const own = new URL(server.url)
  const isOwnHost = url.hostname === own.hostname
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isOwnHost && own.protocol === 'http:'))
    throw refused(`${url.protocol}//${url.host} is not encrypted.`)
  if (url.username !== '' || url.password !== '') throw refused(`a URL of ${url.host} has a password in it.`)
  if (!(isOwnHost && server.allowPrivate)) checkHostAddress(url.hostname)
  return url
}

const refused = (what: string): TooldexError =>
  new TooldexError('ADDRESS_REFUSED', `The sign-in was refused: ${what}`, {
    hint: 'Ask the operator of the MCP server to correct its OAuth metadata.',
  })

/** Opens the requests for the sign-in at a server. */
export function openOAuthRequests(server: HttpServer): OAuthRequests {
  const privateHost = server.allowPrivate ? new URL(server.url).hostname : undefined
  const agent = new Agent({ ...agentOptions, connect: { lookup: publicLookupBut(privateHost), timeout: 10_000 } })
  const request = fetch as unknown as (url: URL, init: object) => Promise<Response>
  let status = 0
  return {
    status: () => status,
    async fetch(target, init) {
      const url = checkOAuthUrl(server, target)
      const timeout = AbortSignal.timeout(requestMs)
      const signal = init?.signal ? AbortSignal.any([timeout, init.signal]) : timeout
      // The client follows redirects within an origin only, if it sees them.
      const response = await request(url, { ...init, signal, dispatcher: agent, redirect: 'manual' })
      status = response.status
      if (response.body === null) return response
      const { statusText, headers } = response
      if (/event-stream/i.test(headers.get('content-type') ?? '')) {
        await response.body.cancel()
        return new Response(null, { status: response.status, statusText, headers })
      }
      return new Response(await readBounded(response.body), { status: response.status, statusText, headers })
    },
    close: () => agent.destroy(),
  }
}

async function readBounded(body: ReadableStream<Uint8Array>): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of body) {
    size += part.length
    if (size > maxBytes) throw new TooldexError('OUTPUT_LIMIT', `The response is larger than ${maxBytes} bytes.`)
    parts.push(part)
  }
  return Buffer.concat(parts)
}
