import { expect, it } from 'vitest'
import { openExecutors } from '../src/app/open-executors.ts'
import { invoke } from '../src/operations/invoke.ts'
import { callTool } from '../src/operations/runs/call-tool.ts'
import { getSignIn } from '../src/operations/sources/sign-in.ts'
import { openSources } from './support/open-sources.ts'
import { query } from './support/query-database.ts'
import { signInBrowser } from './support/sign-in-browser.ts'
import { tempFolder } from './support/temp-folder.ts'
import { type ProtectedSettings, startProtected } from './upstreams/protected-server.ts'

const origin = 'http://localhost'
const ref = { workspace: 'default', name: 'mail' }

/** A registry with an approved source that needs a sign-in. */
async function open(settings: Partial<ProtectedSettings> = {}, oauth?: object) {
  const server = await startProtected(settings)
  const registry = await openSources()
  const { request, app, context } = registry
  const browser = () => signInBrowser({ origin, request: (url, init) => app.request(url, init) })
  const body = { name: 'mail', ...server.definition, ...(oauth === undefined ? {} : { oauth }) }
  const { approval } = (await request('POST', '/sources', { body })).body
  const approved = await request('POST', '/sources/mail/approve', { body: { hash: approval.hash } })
  const keyFor = async (name: string): Promise<string> =>
    (await request('POST', '/keys', { body: { name, scopes: ['call'] } })).body.secret
  const linkFor = async (key?: string): Promise<string> =>
    (await request('POST', '/sources/mail/sign-in', { body: {}, key })).body.url
  /** The output of a call as a caller, or its error. */
  const call = async (actor = 'key:admin', args: object = {}): Promise<unknown> => {
    const caller = { workspace: 'default', actor }
    const answer = await invoke(callTool, { name: 'mail__whoami', arguments: args }, { ...context, caller, origin })
    return 'outcome' in answer ? (answer.outcome.errorCode ?? answer.outcome.output) : answer
  }
  const actions = async () => {
    const { items } = (await request('GET', '/audit?limit=50')).body
    return items
      .map(({ action }: { action: string }) => action)
      .filter((action: string) => action.startsWith('source.sign'))
  }
  return { ...registry, server, browser, approved, keyFor, linkFor, call, actions }
}

const needed = { code: 'SIGN_IN_REQUIRED', url: expect.stringContaining(`${origin}/oauth/sign-in?ticket=`) }

it('signs in for all with PKCE and a registered client; nothing readable is stored, shown or logged', async () => {
  const { request, server, browser, approved, linkFor, call, actions, database, run, lines } = await open()
  expect(approved.body).toMatchObject({ state: 'failed', tools: 0, signIn: { mode: 'shared', isSignedIn: false } })
  const link = await linkFor()
  expect(await (await browser().send(link)).text()).toContain('all callers of the workspace')
  const { text, status } = await browser().signIn(link, 'alice')
  expect([status, text]).toEqual([200, expect.stringContaining('Signed in')])
  const shown = await request('GET', '/sources/mail')
  expect(shown.body).toMatchObject({ state: 'started', tools: 1, signIn: { isSignedIn: true, failure: null } })
  expect([await call(), await call('key:other')]).toEqual(['alice', 'alice'])
  expect(await call('key:admin', { showToken: true })).toContain('redacted')
  expect(server.requests.filter(({ path }) => path === '/reg')).toHaveLength(1)
  const exchange = new URLSearchParams(server.requests.find(({ grant }) => grant === 'authorization_code')?.body)
  expect(Object.fromEntries(exchange)).toMatchObject({ resource: server.url, code_verifier: expect.any(String) })
  const [row] = await query(database, 'select * from source_sign_ins')
  expect(JSON.stringify(row)).not.toMatch(/access|refresh_token|verifier|alice/)
  expect(await run('sources')).toMatchObject({ out: expect.stringMatching(/mail .*done/) })
  expect((await run('sources', 'sign-out', 'mail')).code).toBe(0)
  expect(server.requests.at(-1)?.path).toBe('/token/revocation')
  await expect(call()).rejects.toMatchObject({ code: 'SIGN_IN_REQUIRED' })
  expect(await actions()).toEqual(['source.sign-out', 'source.sign-in'])
  expect(lines.join('\n')).not.toMatch(/Bearer|token/)
})

it('refreshes rotated tokens one at a time, in two processes, before they expire and after they are refused', async () => {
  let [running, most] = [0, 0]
  const { server, browser, linkFor, call, stores } = await open({ ttl: 20 })
  await browser().signIn(await linkFor(), 'alice')
  const env = {
    ...process.env,
    TOOLDEX_HOME: tempFolder(),
    TOOLDEX_SECRET_KEY: 'a-key-for-tests-only-0123456789-abcdef',
  }
  const other = openExecutors(stores, env, { servers: new Map() })
  server.state.onToken = async () => {
    running++
    most = Math.max(most, running)
    await new Promise((resolve) => setImmediate(resolve))
    running--
  }
  const read = () => other.sources?.read(ref, AbortSignal.timeout(60_000))
  const all = await Promise.all([call(), call(), read(), call(), read(), call()])
  expect(all.filter((each) => each === 'alice')).toHaveLength(4)
  expect(most).toBe(1)
  const before = server.grantsOf('refresh_token')
  expect(before).toBeGreaterThan(0)
  server.state.ttl = 3600
  expect(await call()).toBe('alice')
  server.endAccess()
  expect(await call()).toBe('alice')
  expect(server.grantsOf('refresh_token')).toBeGreaterThan(before)
  await other.mcp.close?.()
})

it('needs a new sign-in when the authorization server has ended it, and says so in search and descriptions', async () => {
  const { server, browser, linkFor, call, actions, request, sync } = await open()
  await browser().signIn(await linkFor(), 'alice')
  expect(await call()).toBe('alice')
  await server.revokeAll()
  await expect(call()).rejects.toMatchObject({ code: 'SIGN_IN_REQUIRED' })
  expect(await actions()).toEqual(['source.sign-in-lost', 'source.sign-in'])
  await sync()
  const found = await request('POST', '/search', { body: { query: 'account of the mailbox' } })
  const readiness = { state: 'needs-credentials', url: expect.stringContaining('/oauth/sign-in?ticket=') }
  expect(found.body.results).toMatchObject([{ name: 'mail__whoami', readiness }])
  const described = await request('POST', '/describe', { body: { ids: ['mail__whoami'] } })
  expect(described.body.tools).toMatchObject([{ readiness }])
  await browser().signIn(await linkFor(), 'bob')
  expect(await call()).toBe('bob')
})

it('never mixes the accounts of callers, each of whom signs in with a link of their own', async () => {
  const { browser, linkFor, call, keyFor, request, sync } = await open({}, { mode: 'caller' })
  await browser().signIn(await linkFor(), 'admin-account')
  await sync()
  const [bob, carol] = [await keyFor('bob'), await keyFor('carol')]
  await expect(call('key:bob')).rejects.toMatchObject(needed)
  const searched = await request('POST', '/search', { body: { query: 'account of the mailbox' }, key: bob })
  expect(searched.body.results).toMatchObject([{ readiness: { state: 'needs-credentials' } }])
  const [one, two] = [browser(), browser()]
  expect(await (await one.send(await linkFor(bob))).text()).toContain('key:bob')
  await Promise.all([one.signIn(await linkFor(bob), 'bob-account'), two.signIn(await linkFor(carol), 'carol-account')])
  const callers = Array.from({ length: 24 }, (_, at) => (at % 3 === 0 ? 'admin' : at % 3 === 1 ? 'bob' : 'carol'))
  const accounts = await Promise.all(callers.map((name) => call(`key:${name}`)))
  expect(accounts).toEqual(callers.map((name) => `${name}-account`))
  expect((await request('DELETE', '/sources/mail/sign-in?caller=key:carol', { key: bob })).status).toBe(403)
  await request('DELETE', '/sources/mail/sign-in', { key: bob })
  await expect(call('key:bob')).rejects.toMatchObject(needed)
  expect(await call('key:carol')).toBe('carol-account')
  await request('DELETE', '/keys/carol')
  await expect(call('key:carol')).rejects.toMatchObject(needed)
})

it('lets each caller wait for sign-ins with a bounded number of requests', async () => {
  const { context } = await open({}, { mode: 'caller' })
  const left = new AbortController()
  const wait = (actor: string) => {
    const caller = { workspace: 'default', actor }
    return invoke(getSignIn, { name: 'mail', after: 1_000_000 }, { ...context, caller, signal: left.signal })
  }
  const busy = Promise.race(Array.from({ length: 21 }, () => wait('key:bob')))
  await expect(busy).rejects.toMatchObject({ code: 'TOO_BUSY' })
  const other = wait('key:carol')
  left.abort()
  await expect(other).rejects.toMatchObject({ code: 'EXECUTION_CANCELLED' })
})

it('accepts each answer once, from the browser that began it, with its issuer, for a caller that exists', async () => {
  const { browser, linkFor, call, keyFor, request, sync } = await open({}, { mode: 'caller' })
  await browser().signIn(await linkFor(), 'admin-account')
  await sync()
  const bob = await keyFor('bob')
  const link = await linkFor(bob)
  const own = browser()
  const { url } = await own.signIn(link, 'bob-account', `${origin}/oauth/callback`)
  const refusals = {
    'another browser': await browser().send(url),
    'another issuer': await own.send(url.replace(/iss=[^&]+/, 'iss=https%3A%2F%2Fevil.example')),
    'the same state again': await own.send(url),
    'a made-up state': await own.send(url.replace(/state=[^&]+/, 'state=x')),
    'a made-up link': await own.send(`${origin}/oauth/sign-in?ticket=${'x'.repeat(120)}`),
  }
  for (const [what, { status }] of Object.entries(refusals)) expect([what, status]).not.toEqual([what, 200])
  await expect(call('key:bob')).rejects.toMatchObject(needed)
  expect((await own.signIn(link, 'bob-account')).status).toBe(200)
  expect((await own.send(link)).status).toBe(404)
  const late = await browser().confirm(await linkFor(await keyFor('dave')))
  expect(late.status).toBe(303)
  const forDave = await linkFor(await keyFor('eve'))
  await request('DELETE', '/keys/eve')
  expect((await browser().confirm(forDave)).status).toBe(404)
  const foreign = await browser().send(forDave, { method: 'POST', headers: { origin: 'https://evil.example' } })
  expect(foreign.status).toBe(403)
})

it('refuses metadata of a private or foreign host, of another resource or issuer, and servers without PKCE', async () => {
  const { server, browser, linkFor } = await open()
  const link = await linkFor()
  const foreign = 'https://evil.example/.well-known/oauth-protected-resource'
  const refused: Record<string, Partial<ProtectedSettings>> = {
    'a private authorization server': { resource: { authorization_servers: ['https://10.0.0.1'] } },
    'the metadata service of a cloud': { resource: { authorization_servers: ['http://169.254.169.254'] } },
    'a private token endpoint': { metadata: { token_endpoint: 'https://192.168.0.1/token' } },
    'an unencrypted token endpoint': { metadata: { token_endpoint: 'http://login.example/token' } },
    'a script in place of a page': { metadata: { authorization_endpoint: 'javascript:alert(1)' } },
    'metadata on another host': { metadataUrl: foreign },
    'another resource': { resource: { resource: 'https://other.example/mcp' } },
    'another issuer': { metadata: { issuer: 'https://evil.example' } },
    'no PKCE': { metadata: { code_challenge_methods_supported: ['plain'] } },
  }
  for (const [what, settings] of Object.entries(refused)) {
    Object.assign(server.state, { metadata: {}, resource: {}, metadataUrl: undefined }, settings)
    const { status, location } = await browser().confirm(link)
    expect([what, location, status === 303]).toEqual([what, '', false])
  }
  expect(server.requests).toEqual([])
  Object.assign(server.state, { metadata: {}, resource: {}, metadataUrl: undefined })
  expect((await browser().signIn(link, 'alice')).status).toBe(200)
})

it('uses a client that was registered by hand, whose secret becomes a stored one', async () => {
  const clientSecret = 'secret-by-hand-0123456789'
  const { server, browser, linkFor, call, request, sync } = await open({}, { clientId: 'by-hand', clientSecret })
  const { text, body } = await request('GET', '/sources/mail')
  expect(body.server.oauth).toEqual({
    mode: 'shared',
    clientId: 'by-hand',
    clientSecret: 'secret:mail.OAUTH_CLIENT_SECRET',
  })
  expect(text).not.toContain(clientSecret)
  expect((await browser().signIn(await linkFor(), 'alice')).status).toBe(200)
  expect(server.requests.filter(({ path }) => path === '/reg')).toEqual([])
  await sync()
  expect(await call()).toBe('alice')
})

it('needs another sign-in for a wider scope, once, and keeps the present one until then', async () => {
  const { server, browser, linkFor, call, sync } = await open()
  await browser().signIn(await linkFor(), 'alice')
  await sync()
  expect(await call()).toBe('alice')
  server.state.scope = 'send'
  await expect(call()).rejects.toMatchObject(needed)
  const link = await linkFor()
  // The tokens of before are still there.
  delete server.state.scope
  expect(await call()).toBe('alice')
  server.state.scope = 'send'
  expect((await browser().signIn(link, 'alice')).status).toBe(200)
  expect(await call()).toBe('alice')
})

it('is described by a document at a route of its own, as an authorization server reads it', async () => {
  const { app } = await openSources()
  const url = 'https://localhost/oauth/client-metadata.json'
  const response = await app.request(url, { headers: { accept: 'application/json' }, redirect: 'manual' })
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json'])
  const text = await response.text()
  // Readers take at most 5 kB, and compare the URL character by character.
  expect(text.length).toBeLessThan(5000)
  const document = JSON.parse(text)
  expect(document).toMatchObject({
    client_id: url,
    redirect_uris: ['https://localhost/oauth/callback'],
    token_endpoint_auth_method: 'none',
    response_types: ['code'],
  })
  expect(document.grant_types).toContain('authorization_code')
  expect(Object.keys(document).filter((key) => key.startsWith('client_secret'))).toEqual([])
  const urls = Object.entries(document).filter(([key]) => key.endsWith('_uri'))
  for (const [, each] of urls) expect(new URL(String(each)).origin).toBe('https://localhost')
})
