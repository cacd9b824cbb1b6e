import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { copyDatabaseTo } from './support/migrated-database.ts'
import { noBrowser, openBrowser } from './support/open-browser.ts'
import { draft } from './support/rest.ts'
import { type PlainServer, startPlainServer } from './support/start-plain-server.ts'
import { findFlaws } from './support/watch-page.ts'

// Stories of many steps in a browser: a slow machine takes minutes for them.
vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 })

const home = mkdtempSync(join(tmpdir(), 'tooldex-console-'))
copyDatabaseTo(home)
let server: PlainServer
let link = ''
let key = ''

beforeAll(async () => {
  server = await startPlainServer({ TOOLDEX_HOME: home, TOOLDEX_API_KEY: '', DATABASE_URL: '' }, ['--examples'])
  link = /log in at (\S+)/.exec(server.said())?.[1] ?? ''
  key = decodeURIComponent(/#key=(.+)/.exec(link)?.[1] ?? '')
})
afterAll(async () => {
  await server?.stop()
  rmSync(home, { recursive: true, force: true })
})

/** Sends a request as the API does, with the admin key. */
const request = async (method: string, path: string, body?: object) => {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
  const response = await fetch(`${server.url}/api/v1${path}`, init)
  return { status: response.status, body: (await response.json()) as Record<string, string> }
}

describe('a session (fault 37)', () => {
  const own = () => ({ 'x-tooldex-session': '1', origin: server.url, 'content-type': 'application/json' })
  const signIn = (secret: string, headers: Record<string, string> = own()) =>
    fetch(`${server.url}/session`, { method: 'POST', headers, body: JSON.stringify({ key: secret }) })
  const cookieOf = (response: Response) => response.headers.getSetCookie()[0]?.split(';')[0] ?? ''
  const create = (headers: Record<string, string>) =>
    fetch(`${server.url}/api/v1/categories`, { method: 'POST', headers, body: '{"name":"made_by_forgery"}' })

  it('is a sealed cookie that scripts and other sites do not get', async () => {
    const response = await signIn(key)
    expect(response.status).toBe(201)
    const [cookie = ''] = response.headers.getSetCookie()
    expect(cookie).toMatch(/; HttpOnly/)
    expect(cookie).toMatch(/; SameSite=Strict/)
    expect(cookie).not.toContain(key)
    expect(Buffer.from(cookie.split(/[=;]/)[1] ?? '', 'base64').toString('latin1')).not.toContain('tooldex')
    expect(await response.json()).toEqual({ signedIn: true, expiresAt: expect.any(String) })
  })

  it('is the same caller as its key, and is not accepted by /mcp', async () => {
    const cookie = cookieOf(await signIn(key))
    const current = await fetch(`${server.url}/api/v1/keys/current`, { headers: { ...own(), cookie } })
    expect(await current.json()).toEqual((await request('GET', '/keys/current')).body)
    const mcp = await fetch(`${server.url}/mcp`, { method: 'POST', headers: { ...own(), cookie }, body: '{}' })
    expect(mcp.status).toBe(401)
  })

  it('is refused in requests that another page can send', async () => {
    const cookie = cookieOf(await signIn(key))
    const json = { 'content-type': 'application/json', cookie }
    const forged: Record<string, string>[] = [
      json,
      { ...json, origin: server.url },
      { ...json, 'x-tooldex-session': '1' },
      { ...json, ...own(), 'sec-fetch-site': 'cross-site' },
      { ...json, ...own(), 'sec-fetch-site': 'same-site' },
      { ...json, ...own(), origin: 'http://127.0.0.1:1' },
      { ...json, ...own(), origin: 'null' },
      { cookie, origin: 'https://evil.example', 'content-type': 'text/plain' },
    ]
    for (const headers of forged) {
      const response = await create(headers)
      expect(response.status, JSON.stringify(headers)).toBe(403)
      expect(await response.json()).toMatchObject({ code: 'FORBIDDEN' })
    }
    expect((await signIn(key, { 'content-type': 'application/json' })).status).toBe(403)
    expect(JSON.stringify((await request('GET', '/categories')).body)).not.toContain('made_by_forgery')
  })

  it('needs a valid key, and a cookie that this server sealed', async () => {
    const wrong = await signIn('tdx_wrong')
    expect([wrong.status, wrong.headers.getSetCookie()]).toEqual([401, []])
    const [name = '', sealed = ''] = cookieOf(await signIn(key)).split(/=(.*)/s)
    const damaged = `${name}=${sealed.slice(0, -8)}AAAAAAA%3D`
    const response = await fetch(`${server.url}/api/v1/keys/current`, { headers: { ...own(), cookie: damaged } })
    expect(response.status).toBe(401)
    const asked = await fetch(`${server.url}/session`, { headers: { ...own(), cookie: damaged } })
    expect(await asked.json()).toEqual({ signedIn: false })
  })

  it('ends when its key is revoked, and when it signs out', async () => {
    const { body } = await request('POST', '/keys', { name: 'short-lived', scopes: ['read'] })
    const cookie = cookieOf(await signIn(body.secret ?? ''))
    const current = () => fetch(`${server.url}/api/v1/keys/current`, { headers: { ...own(), cookie } })
    expect((await current()).status).toBe(200)
    await request('DELETE', '/keys/short-lived')
    const refused = await current()
    expect([refused.status, await refused.json()]).toEqual([401, expect.objectContaining({ hint: 'Sign in again.' })])
    const left = await fetch(`${server.url}/session`, { method: 'DELETE', headers: { ...own(), cookie } })
    expect([left.status, left.headers.getSetCookie()[0]]).toEqual([204, expect.stringContaining('Max-Age=0')])
  })
})

describe('the files of the console', () => {
  const html = { accept: 'text/html' }

  it('come with a policy that allows no inline code, and are kept and compressed', async () => {
    const page = await fetch(`${server.url}/catalog?q=git`, { headers: html })
    const policy = page.headers.get('content-security-policy') ?? ''
    expect(policy).not.toContain('unsafe')
    expect(policy).toMatch(/script-src 'self' 'nonce-[^']{24}'/)
    expect(page.headers.get('cache-control')).toBe('no-store')
    const text = await page.text()
    expect(text).not.toContain('__NONCE__')
    const [, script = ''] = /src="(\/assets\/[^"]+\.js)"/.exec(text) ?? []
    for (const [accepted, encoding] of [
      ['gzip, br', 'br'],
      ['gzip', 'gzip'],
      ['identity', null],
    ] as const) {
      const asset = await fetch(server.url + script, { headers: { 'accept-encoding': accepted } })
      expect(asset.headers.get('content-encoding')).toBe(encoding)
      expect(asset.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
      expect((await asset.text()).length).toBeGreaterThan(1000)
    }
  })

  it('answer pages only: other paths keep their answers', async () => {
    const statusOf = async (path: string) =>
      (await fetch(server.url + path, { headers: html, redirect: 'manual' })).status
    expect(await statusOf('/tools/x/../../y')).toBe(200)
    for (const path of ['/api/v1/nothing', '/assets/nothing.js', '/assets/..%2findex.html', '/.well-known/x'])
      expect(await statusOf(path), path).toBe(404)
    expect(await statusOf('/catalog?key=tdx_misplaced')).toBe(302)
    const outside = await fetch(`${server.url}//evil.test/?key=tdx_misplaced`, { headers: html, redirect: 'manual' })
    expect([outside.status, outside.headers.get('location')]).toEqual([302, '/evil.test/'])
    const plain = await fetch(`${server.url}/nothing`)
    expect([plain.status, plain.headers.get('content-type')]).toEqual([404, 'application/problem+json'])
    expect((await fetch(`${server.url}/healthz`, { headers: html })).headers.get('content-type')).toMatch(/json/)
  })
})

describe.skipIf(noBrowser !== '')(`the console in a browser${noBrowser}`, () => {
  let browser: Browser
  let context: BrowserContext
  let page: Page
  let asked: string[] = []
  let complaints: string[] = []

  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(async () => {
    await browser?.close()
  })
  beforeEach(async () => {
    context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
    context.setDefaultTimeout(300_000)
    page = await context.newPage()
    asked = []
    complaints = []
    page.on('request', (each) => asked.push(each.url()))
    page.on('pageerror', (error) => complaints.push(String(error)))
    page.on('dialog', (dialog) => complaints.push(`a dialog: ${dialog.message()}`))
    page.on('console', (message) => {
      // A refused request is reported there too.
      if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
        complaints.push(message.text())
    })
  })
  afterEach(async () => {
    await context.close()
    expect(complaints).toEqual([])
    expect(asked.filter((url) => !url.startsWith(server.url) && !url.startsWith('blob:'))).toEqual([])
  })

  const heading = (name: string) => page.locator('h1', { hasText: name })
  const signIn = async () => {
    await page.goto(link)
    await heading('Home').waitFor()
  }

  it('signs in with the link of the first start, and keeps no key', async () => {
    await signIn()
    expect(page.url()).toBe(`${server.url}/`)
    expect(asked.join()).not.toContain(key)
    expect(await page.evaluate('JSON.stringify([document.cookie, {...localStorage}, {...sessionStorage}])')).toBe(
      '["",{},{}]',
    )
    await page.reload()
    await heading('Home').waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('API key').fill('tdx_wrong')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('alert').getByText('The key is unknown, revoked or expired.').waitFor()
    await page.getByLabel('API key').fill(key)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await heading('Home').waitFor()
  })

  it('signs in with a link that is opened where the sign-in is shown', async () => {
    await page.goto(server.url)
    await page.getByLabel('API key').waitFor()
    await page.goto(link)
    await heading('Home').waitFor()
    expect(page.url()).toBe(`${server.url}/`)
  })

  it('returns to the sign-in when the key of the session is revoked', async () => {
    const { body } = await request('POST', '/keys', { name: 'in-use', scopes: ['read'] })
    await page.goto(`${server.url}/#key=${body.secret}`)
    await heading('Home').waitFor()
    await request('DELETE', '/keys/in-use')
    await page.getByText('The session has ended').waitFor()
    await page.getByLabel('API key').waitFor()
  })

  it('finds tools and pages in the command palette, with the keyboard only', async () => {
    await signIn()
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox').fill('count the words of a text')
    await page.getByRole('option', { name: 'text_statistics' }).waitFor()
    await page.keyboard.press('Enter')
    await heading('text_statistics').waitFor()
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox').fill('Home')
    await page.keyboard.press('Enter')
    await heading('Home').waitFor()
  })

  it('searches while typing, explains ranks, filters, and keeps all of it in the URL', async () => {
    await signIn()
    await page.goto(`${server.url}/catalog`)
    const tools = page.getByRole('list', { name: 'Tools' })
    await tools.getByRole('link', { name: 'folder_sizes' }).waitFor()
    await page.locator('h1').click()
    await page.keyboard.press('/')
    await page.keyboard.type('count the words of a text')
    await tools.locator('li').first().getByRole('link', { name: 'text_statistics' }).waitFor()
    await page.getByRole('button', { name: 'Why this rank' }).click()
    await tools.getByText('meaning').first().waitFor()
    await tools
      .getByText(/^\d+ tokens$/)
      .first()
      .waitFor()
    await page.getByRole('button', { name: 'Show as cards' }).click()
    // The filter of executors has a value of that name, too.
    await page
      .getByRole('group', { name: 'Tag' })
      .getByRole('button', { name: /^python/ })
      .click()
    await page.waitForURL((url) => url.searchParams.get('tag') === 'python')
    await page.reload()
    await page.getByText('1 tool', { exact: true }).waitFor()
    expect(await page.getByLabel('Search tools').inputValue()).toBe('count the words of a text')
    expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({
      q: 'count the words of a text',
      why: '1',
      view: 'cards',
      tag: 'python',
    })
    await page.getByRole('button', { name: 'Remove all filters' }).click()
    await page.getByLabel('Search tools').fill('xylophone quasar zzzz')
    await page.getByText('Nothing here fits.').waitFor()
  })

  it('connects a client with a fresh key, and notices its first request', async () => {
    await signIn()
    await page.getByLabel('Name of the new key').fill('agent of the story')
    await page.getByRole('button', { name: 'Create a key' }).click()
    await page.getByText('Waiting for the first request with this key').waitFor()
    const entry = await page.getByRole('tabpanel', { name: 'Claude Code' }).locator('pre').last().textContent()
    const { url, headers } = JSON.parse(entry ?? '').mcpServers.tooldex
    expect(url).toBe(`${server.url}/mcp`)
    expect((await fetch(`${server.url}/api/v1/keys/current`, { headers })).status).toBe(200)
    await page.getByText('Connected: the key has been used.').waitFor()
  })

  it('leads a newcomer without tools to the first call', async () => {
    const fresh = mkdtempSync(join(tmpdir(), 'tooldex-newcomer-'))
    copyDatabaseTo(fresh)
    const empty = await startPlainServer({ TOOLDEX_HOME: fresh, TOOLDEX_API_KEY: '', DATABASE_URL: '' })
    try {
      await page.goto(/log in at (\S+)/.exec(empty.said())?.[1] ?? '')
      await page.getByRole('button', { name: 'Create count_words' }).click()
      await heading('count_words').waitFor()
      await page.getByLabel('text', { exact: false }).first().fill('one three')
      await page.getByRole('button', { name: 'Run', exact: true }).click()
      await page.getByText('"three"').waitFor()
      await page.getByRole('link', { name: 'Home' }).click()
      await page.getByText('1 run in 24 hours, 0.0 % failed').waitFor()
      await page.locator('.uplot canvas').first().waitFor()
      asked = asked.filter((each) => !each.startsWith(empty.url))
    } finally {
      await page.goto('about:blank')
      await empty.stop()
      rmSync(fresh, { recursive: true, force: true })
    }
  })

  it('tries a tool, saves the call as an example, and rolls back to an earlier version', async () => {
    await signIn()
    await page.goto(`${server.url}/tools/text_statistics?tab=try`)
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await page.getByText('This field is required.').waitFor()
    await page.getByLabel('text', { exact: false }).first().fill('One two. <b>Three</b>')
    await page.getByRole('button', { name: 'Dry run' }).click()
    await page.getByText('Nothing has been called.').waitFor()
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await page.getByText('sentences:').waitFor()
    await page.getByText('Copy as curl, CLI or TypeScript').click()
    await page.getByText(`"text":"One two. <b>Three</b>"`).waitFor()
    await page.getByRole('button', { name: 'Edit as JSON' }).click()
    await page.getByLabel('Arguments as JSON').fill('{"text": "a b c", "top": 1}')
    await page.getByRole('button', { name: 'Save as example' }).click()
    await page.getByText('Saved as an example in version 2.').waitFor()
    await page.getByRole('tab', { name: 'Versions' }).click()
    await page.getByRole('button', { name: /^Version 2/ }).waitFor()
    await page.getByRole('button', { name: /^Version 1/ }).click()
    await page.getByText('Version 1 compared with version 2').waitFor()
    await page.getByRole('button', { name: 'Roll back to version 1' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Roll back' }).click()
    await page.getByRole('button', { name: /^Version 3/ }).waitFor()
    await page.getByRole('tab', { name: 'Runs' }).click()
    await page.getByRole('cell', { name: 'Success' }).first().waitFor()
    const { body } = await request('GET', '/executions/statistics?tool=text_statistics')
    expect(body).toMatchObject({ total: { runs: 1, failed: 0 }, complete: true })
  })

  it('offers legal steps only, and shows what a provider loses', async () => {
    await request('POST', '/tools', draft('stepped', { outputSchema: { type: 'object', format: 'odd' } }))
    await signIn()
    await page.goto(`${server.url}/tools/stepped`)
    expect(await page.getByRole('button', { name: 'Deactivate' }).count()).toBe(0)
    await page.getByRole('button', { name: 'Activate' }).click()
    await page.getByText('stepped is active now.').waitFor()
    await page.getByRole('button', { name: 'Deprecate' }).waitFor()
    await page.getByRole('tab', { name: 'Providers' }).click()
    await page.getByRole('tab', { name: 'Gemini' }).click()
    await page.getByRole('tabpanel', { name: 'Gemini' }).getByText('"name": "stepped"').waitFor()
    await page.getByRole('tab', { name: 'TypeScript' }).click()
    await page.getByRole('tabpanel', { name: 'TypeScript' }).getByText('stepped').first().waitFor()
  })

  it('shows hostile texts as text (fault 36)', async () => {
    const script = '<script>window.evil = 1; alert(1)</script><img src=x onerror="window.evil = 1">'
    const text = `${script} javascript:alert(1) data:text/html,${script} \u001b[2Kansi \u202ebidi `
    const long = text + 'x'.repeat(19_000)
    const hostile = {
      description: long,
      summary: text,
      displayName: text.slice(0, 150),
      tags: [script.slice(0, 90)],
      notes: text,
      externalRefs: ['javascript:alert(1)'],
      exampleRequests: [text],
      examples: [{ description: text, args: { [script]: text } }],
      inputSchema: {
        type: 'object',
        properties: { [script]: { type: 'string', description: text, default: text, enum: [text] } },
      },
    }
    const created = await request('POST', '/tools', draft('hostile', hostile))
    expect(created.status, JSON.stringify(created.body)).toBe(201)
    await request('POST', '/tools/hostile/activate')
    await signIn()
    for (const path of [
      '/tools/hostile',
      '/tools/hostile?tab=try',
      '/tools/hostile?tab=providers',
      '/catalog?q=hostile',
    ]) {
      await page.goto(server.url + path)
      await page.locator('main').getByText('<script>').first().waitFor()
      // Search results are cut before it.
      if (path.startsWith('/tools')) await page.locator('main').getByText('\\u{202e}').first().waitFor()
      expect(
        await page.evaluate('[typeof window.evil, document.querySelectorAll("main script, main img").length]'),
      ).toEqual(['undefined', 0])
      expect(await page.evaluate('document.querySelectorAll("a[href^=javascript], a[href^=data]").length')).toBe(0)
    }
  })

  it('is accessible in both themes, and fits 360 px', async () => {
    await signIn()
    const paths = ['/', '/catalog?q=text&why=1', '/catalog?view=cards', '/tools/text_statistics', '/design']
    for (const path of [...paths, '/tools/text_statistics?tab=try', '/tools/text_statistics?tab=versions']) {
      await page.goto(server.url + path)
      await page.locator('main h1').waitFor()
      await page
        .locator('main [role="status"]', { hasText: 'Loading' })
        .waitFor({ state: path === '/design' ? 'attached' : 'detached' })
      expect(await findFlaws(page), path).toEqual([])
    }
  })
})
