import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page, Request } from 'playwright-core'
import { expect } from 'vitest'
import { copyDatabaseTo } from '../support/migrated-database.ts'
import { openBrowser } from '../support/open-browser.ts'
import { startPlainServer } from '../support/start-plain-server.ts'
import { watchPage } from '../support/watch-page.ts'

const [verbs, nouns, areas] = [
  ['list', 'create', 'delete', 'update', 'send', 'read', 'count', 'export', 'import', 'search'],
  ['record', 'customer', 'invoice', 'order', 'ticket', 'report', 'file', 'message', 'user', 'event'],
  ['billing', 'support', 'logistics', 'people'],
] as const

const nameAt = (index: number) => `tool_${String(index).padStart(6, '0')}`

// The console loads this many at once.
const pageSize = 50
// A config file has at most 5 MiB.
const toolsPerConfig = 15_000

/** Writes the configs, and returns their files. */
function writeConfigs(folder: string, total: number): string[] {
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

/** The console scrolls, searches and filters the tools of a running server, with nothing stubbed; prints what it measures. */
export async function tryLargeCatalog(total: number): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), 'tooldex-large-catalog-'))
  copyDatabaseTo(home)
  const env = { TOOLDEX_HOME: home, TOOLDEX_API_KEY: '', DATABASE_URL: '', TOOLDEX_LEARNING: 'off' }
  const began = performance.now()
  const server = await startPlainServer(env, writeConfigs(home, total))
  const started = performance.now() - began
  const browser = await openBrowser()
  try {
    const { page, complaints } = await watchPage(browser, server.url)
    await page.goto(`${server.url}/#key=${/#key=(\S+)/.exec(server.said())?.[1] ?? ''}`)
    await page.locator('h1', { hasText: 'Home' }).waitFor()
    await page.goto(`${server.url}/catalog`)
    await page.getByText(`${total.toLocaleString('en')} tools`).waitFor()
    await page.getByRole('treeitem', { name: 'billing' }).waitFor()
    const scrolled = await scrollCatalog(page, total)
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
    const counted = page.waitForResponse((response) => {
      const body = response.url().endsWith('/api/v1/search') ? response.request().postDataJSON() : undefined
      return body?.facets === true && body.category === 'billing'
    })
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
}

/** What the page did while it was scrolled. */
interface Scrolled {
  /** The number of tools in the page at once, at most. */
  readonly mostItems: number
  /** Answers of searches, in milliseconds as the browser measures them, in order. */
  readonly answers: readonly number[]
  /** The longest time between two frames while the list moved, in milliseconds. */
  readonly longestFrame: number
}

/** Scrolls the catalog to its middle, its end and back with the wheel in between, and reads the tools that are shown there. */
async function scrollCatalog(page: Page, total: number): Promise<Scrolled> {
  const answers: number[] = []
  const note = (request: Request) => {
    if (request.url().endsWith('/api/v1/search')) answers.push(request.timing().responseEnd)
  }
  page.on('requestfinished', note)
  const tools = page.getByRole('list', { name: 'Tools' })
  let mostItems = 0
  const look = async (share: number, index: number) => {
    await page.evaluate(`scrollTo(0, ${share} * (document.documentElement.scrollHeight - innerHeight))`)
    await tools
      .getByRole('link', { name: nameAt(index), exact: true })
      .first()
      .waitFor()
    mostItems = Math.max(mostItems, await tools.locator('li').count())
  }
  await look(0, 0)
  await page.evaluate(watchFrames)
  await look(0.5, Math.floor(total / 2))
  for (let turn = 0; turn < 20; turn++) await page.mouse.wheel(0, 600)
  await look(1, total - 1)
  await look(0, 0)
  const longestFrame = Number(await page.evaluate('globalThis.longestFrame'))
  page.off('requestfinished', note)
  expect(mostItems).toBeLessThan(200)
  // Pages before the visible ones are not loaded.
  expect(answers.length).toBeLessThan(Math.min(100, total / pageSize / 2))
  return { mostItems, answers, longestFrame }
}

const watchFrames = `
  globalThis.longestFrame = 0
  let before = performance.now()
  const next = (now) => {
    globalThis.longestFrame = Math.max(globalThis.longestFrame, now - before)
    before = now
    requestAnimationFrame(next)
  }
  requestAnimationFrame(next)`
