import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { consolePages } from '../scripts/pictures/console-pages.mjs'
import { fillServer, type PageIds } from '../scripts/pictures/fill-server.mjs'
import { copyDatabaseTo } from './support/migrated-database.ts'
import { noBrowser, openBrowser } from './support/open-browser.ts'
import { type PlainServer, startPlainServer } from './support/start-plain-server.ts'
import { lastingFolder } from './support/temp-folder.ts'
import { findFlaws, watchPage } from './support/watch-page.ts'

// All pages, each twice: a slow machine takes minutes for them.
vi.setConfig({ testTimeout: 900_000, hookTimeout: 600_000 })

describe.skipIf(noBrowser !== '')(`every page of the console${noBrowser}`, () => {
  const home = mkdtempSync(join(tmpdir(), 'tooldex-screens-'))
  let server: PlainServer
  let ids: PageIds
  let key = ''

  beforeAll(async () => {
    copyDatabaseTo(home)
    server = await startPlainServer({ TOOLDEX_HOME: home, TOOLDEX_API_KEY: '', DATABASE_URL: '' }, ['--examples'])
    key = /#key=(\S+)/.exec(server.said())?.[1] ?? ''
    ids = await fillServer(server.url, decodeURIComponent(key), lastingFolder())
  })
  afterAll(async () => {
    await server?.stop()
    rmSync(home, { recursive: true, force: true })
  })

  it('is accessible in both themes, fits 360 px, logs no error, and asks nobody but its server', async () => {
    const browser = await openBrowser()
    try {
      const { page, complaints } = await watchPage(browser, server.url)
      await page.goto(server.url)
      await page.getByLabel('API key').waitFor()
      expect(await findFlaws(page), 'sign-in').toEqual([])
      await page.goto(`${server.url}/#key=${key}`)
      await page.locator('h1', { hasText: 'Home' }).waitFor()
      for (const [name, path, ready] of consolePages(ids)) {
        await page.goto(server.url + path)
        await ready(page)
        expect(await findFlaws(page), name).toEqual([])
      }
      await page.setViewportSize({ width: 360, height: 740 })
      await page.goto(`${server.url}/admin?tab=audit`)
      const selected = page.getByRole('tab', { name: 'Audit', selected: true })
      await selected.waitFor()
      const right = () => selected.evaluate((tab) => tab.getBoundingClientRect().right)
      await expect.poll(right).toBeLessThanOrEqual(360)
      expect(complaints).toEqual([])
    } finally {
      await browser.close()
    }
  })
})
