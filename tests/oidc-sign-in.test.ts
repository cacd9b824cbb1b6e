import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, createServer as createSocketServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { exportJWK, generateKeyPair } from 'jose'
import Provider from 'oidc-provider'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { copyDatabaseTo } from './support/migrated-database.ts'
import { noBrowser, openBrowser } from './support/open-browser.ts'
import { type PlainServer, startPlainServer } from './support/start-plain-server.ts'

// A story in a browser: a slow machine takes minutes for it.
vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 })

const scopes = ['tooldex:read', 'tooldex:call', 'tooldex:write', 'tooldex:admin']
const clientSecret = 'console-secret-of-this-test'

/** Passes connections on to a server that starts later, so that its address is known before. */
async function openGate() {
  let port = 0
  const sockets = new Set<Socket>()
  const gate = createSocketServer((near) => {
    const far = connect(port, '127.0.0.1')
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from)
      from.on('error', () => to.destroy()).on('close', () => to.destroy())
      from.pipe(to)
    }
  })
  await new Promise<void>((resolve) => gate.listen(0, '127.0.0.1', () => resolve()))
  return {
    origin: `http://127.0.0.1:${(gate.address() as AddressInfo).port}`,
    leadTo: (url: string) => {
      port = Number(new URL(url).port)
    },
    close: () => {
      for (const socket of sockets) socket.destroy()
      return new Promise((resolve) => gate.close(resolve))
    },
  }
}

/** An authorization server at which everybody is signed in as the person named last. */
async function startProvider(redirectUri: string) {
  const http = createServer()
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', () => resolve()))
  const issuer = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
  const { privateKey } = await generateKeyPair('RS256', { extractable: true })
  const answers = { person: 'alice', deny: false, seconds: 3600 }
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: 'console',
        client_secret: clientSecret,
        grant_types: ['authorization_code'],
        redirect_uris: [redirectUri],
        response_types: ['code'],
      },
    ],
    jwks: { keys: [{ ...(await exportJWK(privateKey)), alg: 'RS256', kid: 'first', use: 'sig' }] },
    scopes: ['openid', ...scopes],
    pkce: { required: () => true },
    findAccount: (_: unknown, id: string) => ({ accountId: id, claims: () => ({ sub: id }) }),
    interactions: { url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    features: {
      devInteractions: { enabled: false },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_: unknown, indicator: string) => ({
          scope: scopes.join(' '),
          audience: indicator,
          accessTokenFormat: 'jwt',
          accessTokenTTL: answers.seconds,
          jwt: { sign: { alg: 'RS256' } },
        }),
      },
    },
  } as never)
  const interact = async (request: IncomingMessage, response: ServerResponse) => {
    const { params } = await provider.interactionDetails(request, response)
    if (answers.deny)
      return provider.interactionFinished(
        request,
        response,
        { error: 'access_denied' },
        { mergeWithLastSubmission: false },
      )
    const grant = new provider.Grant({ accountId: answers.person, clientId: 'console' })
    grant.addOIDCScope(['openid', ...scopes].join(' '))
    grant.addResourceScope(String(params.resource), scopes.join(' '))
    const result = { login: { accountId: answers.person }, consent: { grantId: await grant.save() } }
    return provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false })
  }
  const callback = provider.callback()
  http.on('request', (request, response) => {
    if (!request.url?.startsWith('/interaction/')) return callback(request, response)
    interact(request, response).catch((thrown: unknown) => response.writeHead(500).end(String(thrown)))
  })
  return { issuer, answers, close: () => new Promise((resolve) => http.close(resolve)) }
}

let gate: Awaited<ReturnType<typeof openGate>>
let provider: Awaited<ReturnType<typeof startProvider>>
let server: PlainServer
const home = mkdtempSync(join(tmpdir(), 'tooldex-oidc-'))

beforeAll(async () => {
  copyDatabaseTo(home)
  gate = await openGate()
  provider = await startProvider(`${gate.origin}/session/callback`)
  server = await startPlainServer({
    TOOLDEX_HOME: home,
    TOOLDEX_API_KEY: '',
    DATABASE_URL: '',
    TOOLDEX_OAUTH_ISSUER: provider.issuer,
    TOOLDEX_OAUTH_RESOURCE: `${gate.origin}/mcp`,
    TOOLDEX_OAUTH_CLIENT_ID: 'console',
    TOOLDEX_OAUTH_CLIENT_SECRET: clientSecret,
  })
  gate.leadTo(server.url)
})
afterAll(async () => {
  await server?.stop()
  await gate?.close()
  await provider?.close()
  rmSync(home, { recursive: true, force: true })
})

/** A client that keeps cookies per origin and follows no redirects by itself. */
class Visitor {
  readonly #cookies = new Map<string, Map<string, string>>()

  async visit(url: string, headers: Record<string, string> = {}): Promise<Response> {
    const { origin } = new URL(url)
    const jar = this.#cookies.get(origin) ?? new Map<string, string>()
    this.#cookies.set(origin, jar)
    const cookie = Array.from(jar, ([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(url, { redirect: 'manual', headers: { ...headers, cookie } })
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      jar.set(name, value)
    }
    return response
  }

  /** Follows the redirects from a URL until one leads to a URL that begins so; resolves to that one. */
  async follow(url: string, until: string, left = 10): Promise<string> {
    const response = await this.visit(url)
    const next = new URL(response.headers.get('location') ?? 'none:', url).href
    if (left === 0) throw new Error(`${response.status} leads on to ${next}`)
    return next.startsWith(until) ? next : this.follow(next, until, left - 1)
  }
}

const callbackUrl = () => `${gate.origin}/session/callback`
const begin = (visitor: Visitor, to = '/') =>
  visitor.follow(`${gate.origin}/session/authorize?to=${encodeURIComponent(to)}`, callbackUrl())
const locationOf = async (response: Promise<Response>) => (await response).headers.get('location')

describe('signing in to the console at an authorization server', () => {
  it('uses PKCE, a state and a nonce, and a cookie that scripts cannot read', async () => {
    const response = await new Visitor().visit(`${gate.origin}/session/authorize`)
    const { origin, searchParams } = new URL(response.headers.get('location') ?? '')
    expect(origin).toBe(provider.issuer)
    expect(Object.fromEntries(searchParams)).toMatchObject({
      response_type: 'code',
      client_id: 'console',
      redirect_uri: callbackUrl(),
      resource: `${gate.origin}/mcp`,
      code_challenge_method: 'S256',
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
    })
    const [cookie = ''] = response.headers.getSetCookie()
    for (const part of ['HttpOnly', 'SameSite=Lax', 'Path=/session']) expect(cookie).toContain(part)
    expect(cookie).not.toContain(searchParams.get('state'))
  })

  it('ends in a session of the subject, on the page where it began', async () => {
    const visitor = new Visitor()
    const finished = await visitor.visit(await begin(visitor, '/catalog?q=git'))
    expect([finished.status, finished.headers.get('location')]).toEqual([302, '/catalog?q=git'])
    expect(finished.headers.getSetCookie().join('\n')).toMatch(/tooldex_session_\d+=[^\n]*HttpOnly; SameSite=Strict/)
    const own = { 'x-tooldex-session': '1', 'sec-fetch-site': 'same-origin' }
    const current = await visitor.visit(`${gate.origin}/api/v1/keys/current`, own)
    expect(await current.json()).toMatchObject({ name: 'sub:alice', scopes: expect.arrayContaining(['admin']) })
    const session = await visitor.visit(`${gate.origin}/session`, own)
    const state = (await session.json()) as { readonly expiresAt: string }
    expect(state).toMatchObject({ signedIn: true, signInWith: new URL(provider.issuer).host })
    // A session ends with its access token.
    expect(Date.parse(state.expiresAt)).toBeLessThanOrEqual(Date.now() + 3_600_000)
  })

  it('returns to pages of this server only', async () => {
    for (const to of ['https://evil.example/', '//evil.example', '/\\evil.example', '/#key=tdx_other', 'catalog']) {
      const visitor = new Visitor()
      expect(await locationOf(visitor.visit(await begin(visitor, to))), to).toBe('/')
    }
  })

  it('is refused for the callback of another browser, a repeated one, and a changed state or issuer', async () => {
    const visitor = new Visitor()
    const callback = await begin(visitor)
    const sessionless = async (response: Response) => {
      expect(response.headers.getSetCookie().join()).not.toMatch(/tooldex_session_\d+=\w/)
      return response.headers.get('location')
    }
    expect(await sessionless(await new Visitor().visit(callback))).toBe('/#sign-in=failed')
    const changed = new URL(callback)
    changed.searchParams.set('state', 'x'.repeat(43))
    const other = new Visitor()
    await begin(other)
    expect(await sessionless(await other.visit(changed.href))).toBe('/#sign-in=failed')
    expect(await locationOf(visitor.visit(callback))).toBe('/')
    expect(await sessionless(await visitor.visit(callback))).toBe('/#sign-in=failed')
    const mixed = new Visitor()
    const answer = new URL(await begin(mixed))
    answer.searchParams.set('iss', 'https://evil.example')
    expect(await sessionless(await mixed.visit(answer.href))).toBe('/#sign-in=failed')
  })

  it('does not begin on a page of another site, and says when it was denied', async () => {
    const foreign = await new Visitor().visit(`${gate.origin}/session/authorize`, { 'sec-fetch-site': 'cross-site' })
    expect([foreign.headers.get('location'), foreign.headers.getSetCookie()]).toEqual(['/', []])
    provider.answers.deny = true
    const visitor = new Visitor()
    const denied = await begin(visitor)
    provider.answers.deny = false
    expect(await locationOf(visitor.visit(denied))).toBe('/#sign-in=denied')
  })

  it(`is a button of the sign-in page${noBrowser}`, async (test) => {
    if (noBrowser !== '') return test.skip()
    const browser = await openBrowser()
    try {
      const page = await browser.newPage()
      page.setDefaultTimeout(300_000)
      const stray: string[] = []
      page.on('request', (request) => {
        if (![gate.origin, provider.issuer].some((origin) => request.url().startsWith(origin)))
          stray.push(request.url())
      })
      await page.goto(`${gate.origin}/#sign-in=denied`)
      await page.getByRole('alert').getByText('canceled or denied').waitFor()
      provider.answers.seconds = 300
      await page.goto(`${gate.origin}/sources`)
      await page.getByRole('button', { name: `Sign in with ${new URL(provider.issuer).host}` }).click()
      await page.locator('h1', { hasText: 'Sources' }).waitFor()
      expect(page.url()).toBe(`${gate.origin}/sources`)
      await page.getByText('sub:alice').waitFor()
      await page.getByText(/^The session ends at/).waitFor()
      provider.answers.seconds = 3600
      await page.getByRole('button', { name: 'Sign in again' }).click()
      await page.getByText(/^The session ends at/).waitFor({ state: 'detached' })
      await page.locator('h1', { hasText: 'Sources' }).waitFor()
      await page.getByRole('button', { name: 'Sign out' }).click()
      await page.getByRole('button', { name: /^Sign in with/ }).waitFor()
      expect(stray).toEqual([])
    } finally {
      await browser.close()
    }
  })
})
