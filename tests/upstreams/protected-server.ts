import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import Provider from 'oidc-provider'
import { onTestFinished } from 'vitest'
import * as z from 'zod'

type Handler = (request: IncomingMessage, response: ServerResponse) => unknown

/** Settings of the two servers, which tests change while they run. */
export interface ProtectedSettings {
  /** The life of access tokens in seconds. */
  ttl: number
  /** Fields of the metadata of the authorization server that differ. */
  metadata: Record<string, unknown>
  /** Fields of the metadata of the MCP server that differ. */
  resource: Record<string, unknown>
  /** The URL that the MCP server names for its metadata, in place of its own. */
  metadataUrl?: string
  /** The scope that the MCP server requires of each token. */
  scope?: string
  /** Called before each request for tokens is answered. */
  onToken?: (grant: string) => Promise<void> | void
}

async function listen(handle: Handler) {
  const server = createServer((request, response) => void handle(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

const json = (response: ServerResponse, body: object) =>
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))

/** A real authorization server and a real MCP server that accepts its tokens only; they end with `close`. */
export async function openProtected(settings: Partial<ProtectedSettings> = {}) {
  const state: ProtectedSettings = { ttl: 3600, metadata: {}, resource: {}, ...settings }
  const requests: { path: string; grant?: string; body: string }[] = []
  let handleOAuth: Handler = () => {}
  let handleMcp: Handler = () => {}
  const oauth = await listen((request, response) => handleOAuth(request, response))
  const mcp = await listen((request, response) => handleMcp(request, response))
  const grants: string[] = []
  const [seen, ended] = [new Set<string>(), new Set<string>()]
  const provider = createProvider(oauth.url, { resource: `${mcp.url}/mcp`, state, grants })
  const callback = provider.callback()
  handleOAuth = async (request, response) => {
    const { pathname } = new URL(request.url ?? '/', oauth.url)
    if (pathname === '/.well-known/oauth-authorization-server') {
      const own = (await (await fetch(`${oauth.url}/.well-known/openid-configuration`)).json()) as object
      return json(response, { ...own, ...state.metadata })
    }
    if (pathname.startsWith('/interaction/')) {
      const accountId = String(request.headers['x-account'] ?? '')
      const { prompt } = await provider.interactionDetails(request, response)
      const result = prompt.name === 'login' ? { login: { accountId } } : { consent: {} }
      return provider.interactionFinished(request, response, result, { mergeWithLastSubmission: true })
    }
    if (pathname !== '/token' && pathname !== '/reg' && pathname !== '/token/revocation')
      return callback(request, response)
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks).toString()
    const grant = new URLSearchParams(body).get('grant_type') ?? ''
    requests.push({ path: pathname, grant, body })
    if (pathname === '/token') await state.onToken?.(grant)
    // The provider accepts a body that was read already.
    return callback(Object.assign(request, { body }), response)
  }
  const handler = createMcpHandler(makeServer)
  handleMcp = async (request, response) => {
    if (request.url?.startsWith('/.well-known/oauth-protected-resource'))
      return json(response, {
        resource: `${mcp.url}/mcp`,
        authorization_servers: [oauth.url],
        scopes_supported: ['tools'],
        ...state.resource,
      })
    const [, text = ''] = /^Bearer (.+)$/.exec(request.headers.authorization ?? '') ?? []
    const token = await provider.AccessToken.find(text)
    if (token === undefined || ended.has(text) || token.isExpired || token.aud !== `${mcp.url}/mcp`) {
      const named = state.metadataUrl ?? `${mcp.url}/.well-known/oauth-protected-resource/mcp`
      return response.writeHead(401, { 'www-authenticate': `Bearer resource_metadata="${named}"` }).end()
    }
    seen.add(text)
    const { scope = '' } = token as { scope?: string }
    if (state.scope !== undefined && !scope.split(' ').includes(state.scope)) {
      const challenge = `Bearer error="insufficient_scope", scope="${state.scope}"`
      return response.writeHead(403, { 'www-authenticate': challenge }).end()
    }
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const headers = new Headers(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
    const body = request.method === 'POST' ? Buffer.concat(chunks) : null
    const leaving = new AbortController()
    response.on('close', () => leaving.abort())
    const { signal } = leaving
    const answer = await handler.fetch(
      new Request(`${mcp.url}/mcp`, { method: request.method ?? 'GET', headers, body, signal }),
      {
        authInfo: { token: text, clientId: String(token.clientId), scopes: [], extra: { account: token.accountId } },
      },
    )
    response.writeHead(answer.status, Object.fromEntries(answer.headers))
    try {
      if (answer.body !== null) for await (const chunk of answer.body) response.write(chunk)
    } catch {
      // The client has left.
    }
    response.end()
  }
  const close = async () => {
    for (const { server } of [oauth, mcp]) {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    }
  }
  return {
    state,
    requests,
    issuer: oauth.url,
    url: `${mcp.url}/mcp`,
    definition: { url: `${mcp.url}/mcp`, allowPrivate: true },
    grantsOf: (grant: string) => requests.filter((each) => each.path === '/token' && each.grant === grant).length,
    /** Ends all access tokens, but not the refresh tokens. */
    endAccess: () => {
      for (const token of seen) ended.add(token)
    },
    /** Ends all grants, as a person does at the authorization server. */
    revokeAll: async () => {
      for (const id of grants.splice(0)) {
        await provider.AccessToken.revokeByGrantId(id)
        await provider.RefreshToken.revokeByGrantId(id)
        await (await provider.Grant.find(id))?.destroy()
      }
    },
    close,
  }
}

/** The same servers, which end with the test. */
export async function startProtected(settings?: Partial<ProtectedSettings>) {
  const opened = await openProtected(settings)
  onTestFinished(opened.close)
  return opened
}

interface ProviderParts {
  readonly resource: string
  readonly state: ProtectedSettings
  /** Receives the id of each grant. */
  readonly grants: string[]
}

/** The account of a sign-in is named by a header of the browser; everybody agrees to everything. */
function createProvider(issuer: string, { resource, state, grants }: ProviderParts): Provider {
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: 'by-hand',
        client_secret: 'secret-by-hand-0123456789',
        redirect_uris: ['http://localhost/oauth/callback'],
        application_type: 'native',
        grant_types: ['authorization_code', 'refresh_token'],
      } as never,
    ],
    scopes: ['openid', 'offline_access', 'tools', 'send'],
    cookies: { keys: [randomUUID()] },
    rotateRefreshToken: true,
    issueRefreshToken: () => true,
    findAccount: (_context: unknown, id: string) => ({ accountId: id, claims: () => ({ sub: id }) }),
    interactions: { url: (_context: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    async loadExistingGrant({ oidc }: never) {
      const { client, session } = oidc as { client: { clientId: string }; session: { accountId?: string } }
      const { accountId } = session
      const grant = new provider.Grant({ clientId: client.clientId, ...(accountId === undefined ? {} : { accountId }) })
      grant.addOIDCScope('openid offline_access tools send')
      grant.addResourceScope(resource, 'tools send')
      grants.push(await grant.save())
      return grant
    },
    features: {
      devInteractions: { enabled: false },
      registration: { enabled: true },
      revocation: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_context: unknown, audience: string) => ({
          scope: 'tools send',
          audience,
          accessTokenFormat: 'opaque',
          accessTokenTTL: state.ttl,
        }),
        useGrantedResource: () => true,
      },
    },
  } as never)
  return provider
}

/** A server whose tool answers the account of its caller, or the token that it was called with. */
function makeServer(): McpServer {
  const server = new McpServer({ name: 'mailbox', version: '1.0.0' })
  const inputSchema = z.object({ showToken: z.boolean().default(false) })
  server.registerTool(
    'whoami',
    { description: 'Answer the account of the mailbox', inputSchema },
    async (input, context) => {
      const { token = '', extra } = context.http?.authInfo ?? {}
      return { content: [{ type: 'text', text: input.showToken ? token : String(extra?.account) }] }
    },
  )
  return server
}
