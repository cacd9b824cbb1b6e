import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { copyDatabaseTo } from './support/migrated-database.ts'
import { noBrowser, openBrowser } from './support/open-browser.ts'
import { type PlainServer, startPlainServer } from './support/start-plain-server.ts'
import { type WatchedPage, watchPage } from './support/watch-page.ts'

// Stories of many steps in a browser: a slow machine takes minutes for them.
vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 })

describe.skipIf(noBrowser !== '')(`the console without its server or its key${noBrowser}`, () => {
  const home = mkdtempSync(join(tmpdir(), 'tooldex-console-outage-'))
  const env = { TOOLDEX_HOME: home, TOOLDEX_API_KEY: '', DATABASE_URL: '' }
  let server: PlainServer
  let browser: Browser
  let watched: WatchedPage
  let key = ''

  beforeAll(async () => {
    copyDatabaseTo(home)
    server = await startPlainServer(env, ['--examples'])
    key = /#key=(\S+)/.exec(server.said())?.[1] ?? ''
    browser = await openBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await server?.stop()
    rmSync(home, { recursive: true, force: true })
  })
  beforeEach(async () => {
    watched = await watchPage(browser, server.url)
  })
  afterEach(async () => {
    await watched.context.close()
    expect(watched.complaints.filter((text) => !text.includes('This page could not be loaded'))).toEqual([])
  })

  const heading = (name: string) => watched.page.locator('h1', { hasText: name })
  const keysOf = (method: string, path: string, body?: object) =>
    fetch(`${server.url}/api/v1/keys${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })

  it('stays while the server restarts, also on a page that is not loaded yet, and continues with it', async () => {
    const { page } = watched
    await page.goto(`${server.url}/#key=${key}`)
    await heading('Home').waitFor()
    const connection = page.getByRole('status', { name: 'Connection' })
    await server.stop()
    await connection.getByText('The server does not answer.').waitFor()
    await page.getByRole('link', { name: 'Search lab' }).click()
    await page.getByRole('alert').getByText('This page could not be loaded').waitFor()
    expect(new URL(page.url()).pathname).toBe('/search-lab')
    server = await startPlainServer(env, ['--examples', '--port', new URL(server.url).port])
    await heading('Search lab').waitFor()
    await page.getByRole('textbox', { name: 'Requests' }).waitFor()
    expect(await connection.textContent()).toBe('')
  })

  it('asks for a key when the one in use is revoked, and then shows the same page', async () => {
    const { page } = watched
    const { secret } = (await (await keysOf('POST', '', { name: 'in-use', scopes: ['read'] })).json()) as {
      secret: string
    }
    await page.goto(`${server.url}/catalog#key=${secret}`)
    await page.getByLabel('Search tools').fill('folder')
    await page.getByRole('link', { name: 'folder_sizes' }).waitFor()
    await page.getByRole('link', { name: 'folder_sizes' }).click()
    await page.getByRole('tab', { name: 'Try it' }).click()
    await page.getByText('Calling a tool needs a key with the scope call.').waitFor()
    for (const name of ['Run', 'Dry run'])
      expect(await page.getByRole('button', { name, exact: true }).isDisabled(), name).toBe(true)
    expect((await keysOf('DELETE', '/in-use')).status).toBe(200)
    await page.getByRole('tab', { name: 'Runs' }).click()
    await page.getByText('The session has ended').waitFor()
    await page.getByLabel('API key').fill(key)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await heading('folder_sizes').waitFor()
    await page.getByText('No calls in the last 24 hours.').waitFor()
  })
})
