import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import Provider from 'oidc-provider'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { eventually } from './support/keys.ts'
import { ask, startServer, type TestServer } from './support/start-server.ts'

const resource = 'http://127.0.0.1:65000/mcp'
const scopes = ['tooldex:read', 'tooldex:call', 'tooldex:write', 'tooldex:admin']

/** A real authorization server on a free port, which issues tokens to a client with a secret. */
async function startProvider() {
  const http = createServer()
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', () => resolve()))
  const issuer = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
  const rotate = async (kid: string) => {
    const { privateKey } = await generateKeyPair('RS256', { extractable: true })
    const provider = createProvider(issuer, { ...(await exportJWK(privateKey)), alg: 'RS256', kid, use: 'sig' })
    http.removeAllListeners('request').on('request', provider.callback())
    return privateKey
  }
  return {
    issuer,
    rotate,
    privateKey: await rotate('first'),
    close: () => new Promise((resolve) => http.close(resolve)),
  }
}

function createProvider(issuer: string, jwk: object): Provider {
  const client = {
    client_id: 'agent',
    client_secret: 'agent-secret',
    grant_types: ['client_credentials'],
    redirect_uris: [],
    response_types: [],
  }
  return new Provider(issuer, {
    clients: [client as never],
    jwks: { keys: [jwk as never] },
    scopes,
    extraTokenClaims: () => ({ groups: ['ops', 'staff'] }),
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_context: unknown, indicator: string) => ({
          scope: scopes.join(' '),
          audience: indicator,
          accessTokenFormat: 'jwt',
          accessTokenTTL: 3600,
          jwt: { sign: { alg: 'RS256' } },
        }),
      },
    },
  } as never)
}

let provider: Awaited<ReturnType<typeof startProvider>>
let server: TestServer
beforeAll(async () => {
  provider = await startProvider()
  const env = { TOOLDEX_OAUTH_ISSUER: provider.issuer, TOOLDEX_OAUTH_RESOURCE: resource }
  server = await startServer({ words: ['coreutils'], env })
})
afterAll(async () => {
  await server?.stop()
  await provider?.close()
})

/** A token from the token endpoint of the authorization server. */
async function requestToken(scope: string, forResource = resource): Promise<string> {
  const response = await fetch(`${provider.issuer}/token`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${btoa('agent:agent-secret')}`,
      'content-type': 'application/x-www-form-urlencoded',
    },
    body: new URLSearchParams({ grant_type: 'client_credentials', scope, resource: forResource }),
  })
  const body = (await response.json()) as { access_token: string }
  expect(response.status, JSON.stringify(body)).toBe(200)
  return body.access_token
}

async function connect(token: string, toolset = ''): Promise<Client> {
  const transport = new StreamableHTTPClientTransport(new URL(`${server.url}/mcp${toolset}`), {
    requestInit: { headers: { authorization: `Bearer ${token}` } },
  })
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } })
  await client.connect(transport)
  onTestFinished(() => client.close())
  return client
}
const echo = { name: 'call_tool', arguments: { name: 'coreutils_echo', arguments: { message: 'hi' } } }
const list = (key: string) => ask(`${server.url}/api/v1/tools`, 'GET', { key })

/** A token that the authorization server did not issue, signed with a key. */
const forge = (claims: object, key = provider.privateKey, header = {}) =>
  new SignJWT({ scope: scopes.join(' '), ...claims })
    .setProtectedHeader({ alg: 'RS256', kid: 'first', ...header })
    .setIssuedAt()
    .sign(key)
const valid = () => ({ iss: provider.issuer, aud: resource, sub: 'alice', exp: Math.floor(Date.now() / 1000) + 600 })

describe('access tokens', () => {
  it('110: are announced by the metadata and the challenge', async () => {
    for (const path of ['', '/mcp']) {
      const { body } = await ask(`${server.url}/.well-known/oauth-protected-resource${path}`, 'GET')
      expect(body).toMatchObject({ resource, authorization_servers: [provider.issuer], scopes_supported: scopes })
    }
    const { status, headers } = await ask(`${server.url}/mcp`, 'POST', { body: {} })
    expect(status).toBe(401)
    expect(headers.get('www-authenticate')).toBe(
      'Bearer realm="tooldex", resource_metadata="http://127.0.0.1:65000/.well-known/oauth-protected-resource/mcp"',
    )
  })

  it('let a client call tools, and the subject is the caller of the execution', async () => {
    const client = await connect(await requestToken('tooldex:call'))
    expect(await client.callTool(echo)).toMatchObject({ structuredContent: { stdout: 'hi\n' } })
    const { body } = await server.request('GET', '/executions?tool=coreutils_echo&limit=1')
    expect(body.items[0]).toMatchObject({ callerId: 'sub:agent', status: 'SUCCESS' })
  })

  it('112: grant only their scopes', async () => {
    const client = await connect(await requestToken('tooldex:read'))
    expect(await client.callTool(echo)).toMatchObject({
      isError: true,
      structuredContent: { error: { code: 'FORBIDDEN' } },
    })
    const reader = await requestToken('tooldex:read')
    expect((await list(reader)).status).toBe(200)
    const refused = await ask(`${server.url}/api/v1/keys`, 'GET', { key: reader })
    expect(refused).toMatchObject({ status: 403, text: expect.stringContaining("'admin'") })
  })

  it('111: for another resource, of another issuer, expired, unsigned or with a wrong signature are refused', async () => {
    const other = (await generateKeyPair('RS256')).privateKey
    const now = Math.floor(Date.now() / 1000)
    const unsigned =
      `${btoa('{"alg":"none"}')}.${btoa(JSON.stringify({ ...valid(), scope: 'tooldex:admin' }))}.`.replaceAll('=', '')
    const refused = {
      'another resource': await requestToken('tooldex:call', 'http://127.0.0.1:65000/other'),
      'no resource': await forge({ ...valid(), aud: undefined }),
      'another issuer': await forge({ ...valid(), iss: 'https://evil.example' }),
      expired: await forge({ ...valid(), exp: now - 600 }),
      'without expiry': await forge({ ...valid(), exp: undefined }),
      'without subject': await forge({ ...valid(), sub: undefined }),
      'a subject with control characters': await forge({ ...valid(), sub: 'alice\u0000' }),
      'a subject on two lines': await forge({ ...valid(), sub: 'alice\nbob' }),
      'a long subject': await forge({ ...valid(), sub: 'a'.repeat(300) }),
      'groups that are no names': await forge({ ...valid(), groups: ['ops', 7] }),
      'groups with control characters': await forge({ ...valid(), groups: ['ops\u0000'] }),
      'too many groups': await forge({ ...valid(), groups: Array.from({ length: 300 }, (_, at) => `g${at}`) }),
      'wrong signature': await forge(valid(), other),
      'unknown key': await forge(valid(), other, { kid: 'second' }),
      'not yet valid': await forge({ ...valid(), nbf: now + 600 }),
      unsigned,
    }
    expect((await list(await forge(valid()))).status).toBe(200)
    for (const [why, token] of Object.entries(refused)) {
      const { status, headers } = await list(token)
      expect([why, status]).toEqual([why, 401])
      expect(headers.get('www-authenticate'), why).toContain('error="invalid_token"')
    }
  })

  it('that are wrong are limited by address, while valid ones, expired ones and keys get their usual responses', async () => {
    const { privateKey } = await generateKeyPair('RS256')
    const wrong = await forge(valid(), privateKey)
    const statuses: number[] = []
    for (let count = 0; count < 30; count++) statuses.push((await list(wrong)).status)
    expect(new Set(statuses.slice(-10))).toEqual(new Set([429]))
    expect((await list(wrong)).headers.get('retry-after')).toMatch(/^\d+$/)
    expect((await list(await forge(valid()))).status).toBe(200)
    expect((await list(server.key)).status).toBe(200)
    expect((await list(await forge({ ...valid(), exp: Math.floor(Date.now() / 1000) - 600 }))).status).toBe(401)
  })

  it('are bound by policies that name the subject', async () => {
    const policy = {
      callers: ['sub:bob'],
      default: 'enabled',
      tools: { coreutils_echo: { args: { message: { pattern: 'no' } } } },
    }
    await server.request('POST', '/bundle', { body: { bundle: { tooldex: 1, policies: [{ name: 'bob', policy }] } } })
    const bob = await connect(await forge({ ...valid(), sub: 'bob' }))
    expect(await bob.callTool(echo)).toMatchObject({
      isError: true,
      structuredContent: { error: { code: 'POLICY_REFUSED' } },
    })
    const alice = await connect(await forge(valid()))
    expect(await alice.callTool(echo)).toMatchObject({ structuredContent: { stdout: 'hi\n' } })
  })

  it('are bound by policies, toolsets and limits that name a group, as the authorization server issues it', async () => {
    const token = await requestToken('tooldex:call')
    expect((await ask(`${server.url}/api/v1/keys/current`, 'GET', { key: token })).body).toMatchObject({
      name: 'sub:agent',
      groups: ['ops', 'staff'],
    })
    const policy = {
      callers: ['group:ops'],
      default: 'enabled',
      tools: { coreutils_echo: { args: { message: { pattern: 'hi' } } } },
    }
    const filter = { names: ['coreutils_echo'] }
    const bundle = {
      tooldex: 1,
      policies: [{ name: 'ops', policy }],
      toolsets: [
        { name: 'for-ops', filter, callers: ['group:ops'] },
        { name: 'for-others', filter, callers: ['group:others', 'group:op', 'sub:group:ops'] },
      ],
      limits: [{ name: 'ops', caller: 'group:ops', toolset: 'for-ops', callsPerDay: 1 }],
    }
    expect((await server.request('POST', '/bundle', { body: { bundle } })).status).toBe(200)
    const client = await connect(token)
    const shout = { ...echo, arguments: { ...echo.arguments, arguments: { message: 'HI' } } }
    expect(await client.callTool(shout)).toMatchObject({ structuredContent: { error: { code: 'POLICY_REFUSED' } } })
    expect(await client.callTool(echo)).toMatchObject({ structuredContent: { stdout: 'hi\n' } })
    const alice = await connect(await forge({ ...valid(), groups: 'op' }))
    expect(await alice.callTool(shout)).toMatchObject({ structuredContent: { stdout: 'HI\n' } })
    const status = async (path: string, key: string) =>
      (await ask(`${server.url}${path}`, 'POST', { key, body: {} })).status
    expect(await status('/mcp/for-others', token)).toBe(404)
    const run = () =>
      ask(`${server.url}/api/v1/tools/coreutils_echo/execute`, 'POST', {
        key: token,
        headers: { 'x-tooldex-toolset': 'for-ops' },
        body: { input: { message: 'hi' }, wait: true },
      })
    const refused = await eventually(run, (answer) => answer.status === 429)
    expect(refused.body).toMatchObject({
      code: 'LIMIT_EXCEEDED',
      limit: { name: 'ops', measure: 'callsPerDay', max: 1 },
    })
    expect(Number(refused.headers.get('retry-after'))).toBe(refused.body.retryAfter)
    const inside = await connect(token, '/for-ops')
    expect(await inside.callTool(echo)).toMatchObject({
      isError: true,
      structuredContent: { error: { code: 'LIMIT_EXCEEDED', retryAfter: expect.any(Number), limit: { name: 'ops' } } },
    })
    const metrics = (await ask(`${server.url}/metrics`, 'GET', { key: server.key })).text
    expect(metrics).toMatch(/^tooldex_limit_used\{limit="ops",subject="",measure="callsPerDay"\} 1$/m)
    expect(metrics).toMatch(/^tooldex_limit_refusals_total\{limit="ops",measure="callsPerDay"\} \d+$/m)
  })

  it('stay valid when the authorization server rotates its keys', async () => {
    await provider.rotate('second')
    const token = await requestToken('tooldex:read')
    expect(
      (
        await eventually(
          () => list(token),
          ({ status }) => status === 200,
        )
      ).status,
    ).toBe(200)
  })
})
