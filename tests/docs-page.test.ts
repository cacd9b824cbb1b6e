import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { copyDatabaseTo } from './support/migrated-database.ts'
import { noBrowser, openBrowser } from './support/open-browser.ts'
import { draft } from './support/rest.ts'
import { type PlainServer, startPlainServer } from './support/start-plain-server.ts'

describe.skipIf(noBrowser !== '')(`the page of the API in a browser${noBrowser}`, () => {
  const home = mkdtempSync(join(tmpdir(), 'tooldex-page-'))
  copyDatabaseTo(home)
  let server: PlainServer
  let browser: Browser
  let context: BrowserContext
  let page: Page
  let link = ''
  let key = ''
  let asked: string[] = []
  let complaints: string[] = []

  beforeAll(async () => {
    const env = { TOOLDEX_HOME: home, TOOLDEX_API_KEY: '', DATABASE_URL: '' }
    server = await startPlainServer(env, ['--examples'])
    key = /log in at \S+#key=(\S+)/.exec(server.said())?.[1] ?? ''
    link = `${server.url}/docs#key=${key}`
    browser = await openBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await server?.stop()
    rmSync(home, { recursive: true, force: true })
  })

  beforeEach(async () => {
    context = await browser.newContext()
    context.setDefaultTimeout(120_000)
    page = await context.newPage()
    asked = []
    complaints = []
    page.on('request', (request) => asked.push(request.url()))
    page.on('pageerror', (error) => complaints.push(String(error)))
    page.on('console', (message) => {
      // A refused request is told there too; it is what some of these tests ask for.
      if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
        complaints.push(message.text())
    })
  })
  afterEach(async () => {
    await context.close()
    expect(complaints).toEqual([])
    expect(asked.filter((url) => !url.startsWith(server.url))).toEqual([])
  })

  const who = () => page.locator('#who')
  const operation = (id: string) => page.locator(`details[id="${id}"]`)
  const send = async (id: string) => {
    await operation(id).getByRole('button', { name: 'Send' }).click()
    await operation(id)
      .locator('.status', { hasText: /^\d{3} / })
      .waitFor()
    return operation(id).locator('pre.answer').textContent()
  }
  const open = (id: string) => page.goto(`${server.url}/docs#${id}`)
  const signedIn = async () => {
    await page.goto(link)
    await who().getByText('admin: read, call, write, admin').waitFor()
  }

  it('logs in with a key after # in its URL', async () => {
    expect(key).toMatch(/^tdx_\S{32}$/)
    expect(server.said()).toContain(`admin key (shown only once): ${key}\n`)
    await signedIn()
    expect(page.url()).toBe(`${server.url}/docs`)
    expect(asked.filter((url) => url.includes('/api/'))).toEqual([`${server.url}/api/v1/keys/current`])
    await page.reload()
    await who().getByText('admin: read, call, write, admin').waitFor()
    await page.getByRole('button', { name: 'Forget the key' }).click()
    await page.getByLabel('API key').waitFor()
    await page.reload()
    expect(await page.getByLabel('API key').isVisible()).toBe(true)
    expect(await page.evaluate('Object.keys(sessionStorage).length + Object.keys(localStorage).length')).toBe(0)
  })

  it('keeps no key of a query in the address, and fits narrow screens', async () => {
    await page.goto(`${server.url}/docs?key=tdx_misplaced`)
    expect(page.url()).toBe(`${server.url}/docs`)
    await page.setViewportSize({ width: 380, height: 700 })
    await open('registry.list')
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(380)
  })

  it('accepts a typed key, and reports an invalid one', async () => {
    await page.goto(`${server.url}/docs#key=tdx_wrong`)
    await who().getByText('The key is unknown, revoked or expired.').waitFor()
    expect(page.url()).toBe(`${server.url}/docs`)
    await page.getByLabel('API key').fill(key)
    await page.getByRole('button', { name: 'Use this key' }).click()
    await who().getByText('admin: read, call, write, admin').waitFor()
    expect(await page.getByLabel('API key').inputValue()).toBe('')
  })

  it('sends the form, and shows the response as text', async () => {
    await signedIn()
    await open('registry.create')
    const evil = '<img src=x onerror="document.title=1">'
    const body = JSON.stringify(draft('shown_as_text', { description: evil }))
    await operation('registry.create').getByLabel('body').fill(body)
    expect(JSON.parse((await send('registry.create')) ?? '')).toMatchObject({ name: 'shown_as_text', version: 1 })
    await open('registry.list')
    await operation('registry.list').getByLabel('search').fill('shown_as')
    expect(await send('registry.list')).toContain(JSON.stringify(evil))
    const curl = await operation('registry.list').locator('pre.curl').textContent()
    expect(curl).toBe(
      `curl -X GET -H "Authorization: Bearer $TOOLDEX_API_KEY" '${server.url}/api/v1/tools?search=shown_as'`,
    )
    await open('registry.delete')
    await operation('registry.delete').getByLabel('idOrName').fill('shown_as_text')
    page.once('dialog', (dialog) => dialog.accept())
    expect(await send('registry.delete')).toContain('shown_as_text')
    expect(await page.title()).toBe('Tooldex API')
    expect(asked.join()).not.toContain(key)
  })

  it('shows complete errors, confirms deletions, and sends nothing without required fields', async () => {
    await open('registry.create')
    expect(await send('registry.create')).toContain('UNAUTHORIZED')
    await signedIn()
    await open('registry.create')
    await operation('registry.create').getByLabel('body').fill('{"name": "No Name"}')
    expect(JSON.parse((await send('registry.create')) ?? '').errors.length).toBeGreaterThan(2)
    await open('registry.get')
    asked = []
    await operation('registry.get').getByRole('button', { name: 'Send' }).click()
    await operation('registry.get').getByLabel('idOrName').fill('a/b?c')
    expect(await send('registry.get')).toContain('NOT_FOUND')
    expect(asked).toEqual([`${server.url}/api/v1/tools/a%2Fb%3Fc`])
    await open('registry.delete')
    await operation('registry.delete').getByLabel('idOrName').fill('add_up')
    page.once('dialog', (dialog) => dialog.dismiss())
    await operation('registry.delete').getByRole('button', { name: 'Send' }).click()
    expect(asked).toHaveLength(1)
  })

  it('finds operations by words, and keeps every example body sendable', async () => {
    await signedIn()
    await page.getByLabel('find an operation').fill('categories tree')
    const visible = () => page.locator('details.operation:visible').count()
    await expect.poll(visible).toBe(1)
    await page.getByLabel('find an operation').fill('')
    await expect.poll(visible).toBeGreaterThan(50)
    for (const text of await page.locator('textarea').all()) JSON.parse(await text.inputValue())
  })

  it('can be read without scripts, and then offers nothing that needs them', async () => {
    const plain = await browser.newContext({ javaScriptEnabled: false })
    const quiet = await plain.newPage()
    await quiet.goto(`${server.url}/docs`)
    expect(await quiet.getByRole('button').count()).toBe(0)
    await quiet.locator('summary', { hasText: '/categories/tree' }).click()
    await quiet.locator('details[open]').getByText('Needs the scope read').waitFor()
    await plain.close()
  })
})
