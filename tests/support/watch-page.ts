import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Browser, BrowserContext, Page } from 'playwright-core'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** A page of a test, and what it must not do. */
export interface WatchedPage {
  readonly page: Page
  readonly context: BrowserContext
  /** Errors of scripts and of the console, dialogs, and requests outside the origin. */
  readonly complaints: readonly string[]
}

/** Opens a page that notes its errors and its requests outside the origin. */
export async function watchPage(browser: Browser, origin: string): Promise<WatchedPage> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
  context.setDefaultTimeout(300_000)
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('request', (request) => {
    const url = request.url()
    if (!url.startsWith(origin) && !url.startsWith('blob:')) complaints.push(`a request: ${url}`)
  })
  page.on('pageerror', (error) => complaints.push(String(error)))
  page.on('dialog', (dialog) => complaints.push(`a dialog: ${dialog.message()}`))
  page.on('console', (message) => {
    // A refused request is reported there too.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      complaints.push(`${message.text()} (${message.location().url}, on ${page.url()})`)
  })
  return { page, context, complaints }
}

interface Violation {
  readonly id: string
  readonly impact: string
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[]
}

/** The serious findings of axe in both themes, and whether the page is wider than 360 px. */
export async function findFlaws(page: Page): Promise<readonly string[]> {
  const flaws: string[] = []
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await page.locator(colorScheme === 'dark' ? 'html.dark' : 'html:not(.dark)').waitFor()
    await page.evaluate(axe)
    const found = (await page.evaluate('axe.run().then(({ violations }) => violations)')) as readonly Violation[]
    const serious = found.filter(({ impact }) => impact === 'serious' || impact === 'critical')
    const listed = serious.map(({ id, nodes }) => {
      const places = nodes.map(({ html, failureSummary = '' }) => `${html} (${failureSummary})`)
      return `${colorScheme}: ${id}: ${places.join(' | ')}`
    })
    flaws.push(...listed)
  }
  const size = page.viewportSize() ?? { width: 1280, height: 800 }
  await page.setViewportSize({ width: 360, height: 740 })
  const width = Number(await page.evaluate('document.documentElement.scrollWidth'))
  if (width > 360) flaws.push(`${width} px wide`)
  await page.setViewportSize(size)
  return flaws
}
