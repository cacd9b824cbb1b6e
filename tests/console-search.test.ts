import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { copyDatabaseTo } from './support/migrated-database.ts'
import { noBrowser, openBrowser } from './support/open-browser.ts'
import { draft } from './support/rest.ts'
import { type PlainServer, startPlainServer } from './support/start-plain-server.ts'
import { findFlaws, type WatchedPage, watchPage } from './support/watch-page.ts'

// Stories of many steps in a browser: a slow machine takes minutes for them.
vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 })

describe.skipIf(noBrowser !== '')(`finding tools in the console${noBrowser}`, () => {
  const home = mkdtempSync(join(tmpdir(), 'tooldex-console-search-'))
  let server: PlainServer
  let browser: Browser
  let watched: WatchedPage
  let key = ''

  beforeAll(async () => {
    copyDatabaseTo(home)
    const env = { TOOLDEX_HOME: home, TOOLDEX_API_KEY: '', DATABASE_URL: '', TOOLDEX_LEARNING: 'on' }
    server = await startPlainServer(env, ['--examples'])
    key = decodeURIComponent(/#key=(\S+)/.exec(server.said())?.[1] ?? '')
    browser = await openBrowser()
    const ops = await request('POST', '/categories', { name: 'a, ops' })
    const net = await request('POST', '/categories', { name: 'net', parentId: ops.id })
    const dns = await request('POST', '/categories', { name: 'dns', parentId: net.id })
    for (const [name, categoryId] of [
      ['in_ops', ops.id],
      ['in_net', net.id],
      ['in_dns', dns.id],
    ])
      await offer(draft(name ?? '', { categoryId }))
  })
  afterAll(async () => {
    await browser?.close()
    await server?.stop()
    rmSync(home, { recursive: true, force: true })
  })
  beforeEach(async () => {
    watched = await watchPage(browser, server.url)
    await watched.page.goto(`${server.url}/#key=${encodeURIComponent(key)}`)
    await heading('Home').waitFor()
  })
  afterEach(async () => {
    await watched.context.close()
    expect(watched.complaints).toEqual([])
  })

  const heading = (name: string) => watched.page.locator('h1', { hasText: name })
  const open = async (path: string, name: string) => {
    await watched.page.goto(server.url + path)
    await heading(name).waitFor()
  }
  const request = async (method: string, path: string, body?: object) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
    const response = await fetch(`${server.url}/api/v1${path}`, init)
    expect(response.status, `${method} ${path}`).toBeLessThan(300)
    return (await response.json()) as Record<string, string>
  }

  const offer = async (tool: Readonly<Record<string, unknown>>) => {
    const { id } = await request('POST', '/tools', tool)
    await request('POST', `/tools/${id}/activate`)
  }

  it('filters by executor, and by a tree of categories with the keyboard, both in the URL', async () => {
    const { page } = watched
    const found = page.getByRole('status').filter({ hasText: /^\d+ tools?$/ })
    await open('/catalog', 'Catalog')
    const kinds = page.getByRole('group', { name: 'Executor' })
    await kinds.getByRole('button', { name: /^http/ }).click()
    await page.waitForURL(/executor=http/)
    await page.getByRole('link', { name: 'in_dns' }).waitFor()
    expect(await page.getByRole('link', { name: 'text_statistics' }).count()).toBe(0)
    // The other kinds stay, so that another one can be chosen.
    await kinds.getByRole('button', { name: /^python/ }).waitFor()

    const item = (name: string) => page.getByRole('treeitem', { name })
    await item('a, ops').waitFor()
    expect(await item('a, ops').textContent()).toMatch(/3$/)
    expect(await item('net').count()).toBe(0)
    await item('a, ops').focus()
    await page.keyboard.press('ArrowRight')
    await item('net').waitFor()
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('ArrowRight')
    await item('dns').waitFor()
    await page.keyboard.press('Enter')
    await found.getByText('2 tools').waitFor()
    await page.waitForURL(/category=net/)
    expect(await item('net').getAttribute('aria-selected')).toBe('true')
    expect(await item('a, ops').getAttribute('aria-expanded')).toBe('true')
    expect(await findFlaws(page)).toEqual([])

    // The link alone shows the same tree.
    await page.reload()
    await item('dns').waitFor()
    await found.getByText('2 tools').waitFor()
    await item('net').focus()
    await page.keyboard.press('ArrowLeft')
    await item('dns').waitFor({ state: 'detached' })
    await page.keyboard.press('ArrowLeft')
    await page.keyboard.press('ArrowLeft')
    await item('net').waitFor({ state: 'detached' })
    await page.locator('[data-expander="a, ops"]').click()
    await item('net').waitFor()
    await page.getByRole('button', { name: 'Remove all filters' }).click()
    await page.getByRole('link', { name: 'text_statistics' }).waitFor()
  })

  it('compares two settings of search, with the requests that fail and changed, and why', async () => {
    const { page } = watched
    await open('/search-lab', 'Search lab')
    const requests = page.getByRole('textbox', { name: 'Requests' })
    await requests.fill('no arrow')
    await page.getByText('no request and tool in line 1').waitFor()
    await requests.fill('count the words of a text => text_statistics\nwords and lines of a text => text_statistics')
    const line = JSON.stringify({ id: '1', query: 'xyzzy <b>x</b>', relevant: ['folder_sizes'] })
    const set = { name: 'queries.jsonl', mimeType: 'application/jsonl', buffer: Buffer.from(`${line}\n`) }
    await page.locator('input[type="file"]').setInputFiles(set)
    const side = page.getByRole('group', { name: 'Side B' })
    await side.getByLabel('Ranking').selectOption('')
    await side.getByLabel('Limit').fill('1000')
    await side.getByText('Limit must be a whole number from 1 to 100.').waitFor()
    expect(await page.getByRole('button', { name: 'Evaluate 3' }).isDisabled()).toBe(true)
    await side.getByLabel('Limit').fill('')
    await side.getByLabel('Executor').selectOption('http')
    await page.waitForURL(/b=executor%3Dhttp/)
    await page.getByRole('button', { name: 'Evaluate 3' }).click()
    await page.getByRole('columnheader', { name: 'B: executor http' }).first().waitFor()
    await page.getByRole('button', { name: 'Changed (2)' }).waitFor()
    await page.getByText('text_statistics: a filter of the query excludes it').first().waitFor()
    await page.getByRole('button', { name: 'Failed in B (3)' }).click()
    await page.getByRole('cell', { name: 'xyzzy <b>x</b>' }).waitFor()
    await page.getByRole('button', { name: 'Failed in A (1)' }).click()
    await page.getByText('not found').first().waitFor()
    expect(await findFlaws(page)).toEqual([])

    // A threshold of 1 makes every search one without a fitting tool.
    await side.getByLabel('Executor').selectOption('')
    await side.getByLabel('Fit threshold').fill('1')
    await page.getByRole('button', { name: 'Evaluate 3' }).click()
    await page.getByRole('columnheader', { name: 'B: fit threshold 1' }).first().waitFor()
    await page.getByRole('button', { name: 'Changed (2)' }).click()
    await page.getByText('nothing fits').first().waitFor()
    await page.reload()
    expect(await side.getByLabel('Fit threshold').inputValue()).toBe('1')
  })

  it('compares within a toolset, which hides the tools outside it', async () => {
    const { page } = watched
    await request('PUT', '/toolsets/network', { filter: { names: ['in_net'] } })
    await open('/search-lab?b=toolset%3Dnetwork', 'Search lab')
    await page.getByRole('textbox', { name: 'Requests' }).fill('in_dns => in_dns')
    await page.getByRole('button', { name: 'Evaluate 1' }).click()
    await page.getByRole('button', { name: 'Changed (1)' }).waitFor()
    await page.getByText('in_dns: the toolset network hides it').waitFor()
  })

  it('adds requests from past calls', async () => {
    const { page } = watched
    await request('POST', '/search', { query: 'how many words has my text' })
    const run = await request('POST', '/tools/text_statistics/execute', { input: { text: 'two words' } })
    const statusOf = async () => (await request('GET', `/executions/${run.id}`)).status
    await expect.poll(statusOf, { timeout: 300_000 }).toBe('SUCCESS')
    await open('/search-lab', 'Search lab')
    const requests = page.getByRole('textbox', { name: 'Requests' })
    await expect
      .poll(
        async () => {
          await page.getByRole('button', { name: 'Add from past calls' }).click()
          await page
            .getByText(/^Added \d+ requests?\.$/)
            .last()
            .waitFor()
          return requests.inputValue()
        },
        { timeout: 300_000 },
      )
      .toContain('how many words has my text => examples:text_statistics')
    await page.getByRole('button', { name: 'Evaluate 1' }).click()
    await page.getByText('First result is right').waitFor()
  })

  it('fixes a finding of lint with one click, after its change is shown', async () => {
    const { page } = watched
    await offer(draft('with_hidden', { description: 'Counts\u200b the hidden characters of a text.' }))
    await open('/search-lab?tab=lint', 'Search lab')
    const row = page
      .getByRole('row')
      .filter({ hasText: 'with_hidden' })
      .filter({ hasText: 'Remove the hidden characters' })
    await row.getByRole('button', { name: 'Remove the hidden characters' }).first().click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('\\u{200b}').first().waitFor()
    expect(await findFlaws(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved with_hidden, version 2.').waitFor()
    await row.waitFor({ state: 'detached' })
    const { description } = await request('GET', '/tools/with_hidden')
    expect(description).toBe('Counts the hidden characters of a text.')
  })
})
