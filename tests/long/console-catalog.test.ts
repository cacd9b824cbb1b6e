import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import { copyDatabaseTo } from '../support/migrated-database.ts'
import { noBrowser, openBrowser } from '../support/open-browser.ts'
import { scrollCatalog } from '../support/scroll-catalog.ts'
import { startPlainServer } from '../support/start-plain-server.ts'
import { watchPage } from '../support/watch-page.ts'

vi.setConfig({ testTimeout: 1_800_000, hookTimeout: 1_800_000 })

const total = Number(process.env.TOOLDEX_CATALOG_TOOLS ?? 100_000)
const [verbs, nouns, areas] = [
  ['list', 'create', 'delete', 'update', 'send', 'read', 'count', 'export', 'import', 'search'],
  ['record', 'customer', 'invoice', 'order', 'ticket', 'report', 'file', 'message', 'user', 'event'],
  ['billing', 'support', 'logistics', 'people'],
] as const

const nameAt = (index: number) => `tool_${String(index).padStart(6, '0')}`

// A config file has at most 5 MiB.
const toolsPerConfig = 15_000

/** Writes the configs, and returns their files. */
function writeConfigs(folder: string): string[] {
  return Array.from({ length: Math.ceil(total / toolsPerConfig) }, (_, at) => {
    const [from, to] = [at * toolsPerConfig, Math.min((at + 1) * toolsPerConfig, total)]
    const tools = Array.from({ length: to - from }, (_, next) => toolAt(from + next))
    const file = join(folder, `many_${at}.yaml`)
    const config = { name: `many_${at}`, description: 'A part of a large catalog', command: 'echo', tools }
    writeFileSync(file, JSON.stringify(config))
    return file
  })
}

function toolAt(index: number) {
  const [verb, noun] = [verbs[index % 10], nouns[Math.floor(index / 10) % 10]]
  const area = areas[Math.floor(index / 100) % 4]
  const description = `${verb} each ${noun} that belongs to ${area}, number ${index}`
  return { name: nameAt(index), description, command: verb, category: area, tags: [verb] }
}

it.skipIf(noBrowser !== '')(`the console scrolls and searches ${total} tools of a server${noBrowser}`, async () => {
  const home = mkdtempSync(join(tmpdir(), 'tooldex-large-catalog-'))
  copyDatabaseTo(home)
  const env = { TOOLDEX_HOME: home, TOOLDEX_API_KEY: '', DATABASE_URL: '', TOOLDEX_LEARNING: 'off' }
  const began = performance.now()
  const server = await startPlainServer(env, writeConfigs(home))
  const started = performance.now() - began
  const browser = await openBrowser()
  try {
    const { page, complaints } = await watchPage(browser, server.url)
    await page.goto(`${server.url}/#key=${/#key=(\S+)/.exec(server.said())?.[1] ?? ''}`)
    await page.locator('h1', { hasText: 'Home' }).waitFor()
    await page.goto(`${server.url}/catalog`)
    await page.getByText(`${total.toLocaleString('en')} tools`).waitFor()
    await page.getByRole('treeitem', { name: 'billing' }).waitFor()
    const scrolled = await scrollCatalog(page, (index) => new RegExp(`^${nameAt(index)}$`), total)
    const typed: number[] = []
    for (const text of ['i', 'invoices', 'send a message to a customer']) {
      const answer = page.waitForResponse((response) => {
        const body = response.url().endsWith('/api/v1/search') ? response.request().postDataJSON() : undefined
        return body?.query === text && body.facets !== true
      })
      await page.getByLabel('Search tools').fill(text)
      const request = (await answer).request()
      await (await answer).finished()
      typed.push(request.timing().responseEnd)
    }
    const counted = page.waitForResponse((response) => response.request().postDataJSON()?.facets === true)
    await page.getByRole('treeitem', { name: 'billing' }).click()
    const facets = (await counted).request()
    await (await counted).finished()
    await page.waitForURL(/category=billing/)
    expect(complaints).toEqual([])
    const rounded = (times: readonly number[]) => times.map((time) => Math.round(time)).join(', ')
    process.stdout.write(
      `${total} tools: started in ${Math.round(started)} ms; answers while scrolling ${rounded(scrolled.answers)} ms; ` +
        `longest frame ${Math.round(scrolled.longestFrame)} ms; at most ${scrolled.mostItems} tools in the page; ` +
        `first searches ${rounded(typed)} ms; counts of the filters ${rounded([facets.timing().responseEnd])} ms\n`,
    )
  } finally {
    await browser.close()
    await server.stop()
    rmSync(home, { recursive: true, force: true })
  }
})
