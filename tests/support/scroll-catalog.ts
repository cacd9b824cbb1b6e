import type { Page } from 'playwright-core'
import { expect } from 'vitest'

/** What the page did while it was scrolled. */
export interface Scrolled {
  /** The number of tools in the page at once, at most. */
  readonly mostItems: number
  /** Answers of searches, in milliseconds as the browser measures them, in order. */
  readonly answers: readonly number[]
  /** The longest time between two frames while the list moved, in milliseconds. */
  readonly longestFrame: number
}

/** Scrolls the catalog to its middle, its end and back with the wheel in between, and reads the tools that are shown there. */
export async function scrollCatalog(page: Page, nameOf: (index: number) => RegExp, total: number): Promise<Scrolled> {
  const answers: number[] = []
  page.on('requestfinished', (request) => {
    if (request.url().endsWith('/api/v1/search')) answers.push(request.timing().responseEnd)
  })
  const tools = page.getByRole('list', { name: 'Tools' })
  let mostItems = 0
  const look = async (share: number, shown: RegExp) => {
    await page.evaluate(`scrollTo(0, ${share} * (document.documentElement.scrollHeight - innerHeight))`)
    await tools.getByRole('link', { name: shown }).first().waitFor()
    mostItems = Math.max(mostItems, await tools.locator('li').count())
  }
  await look(0, nameOf(0))
  await page.evaluate(watchFrames)
  await look(0.5, nameOf(Math.floor(total / 2)))
  for (let turn = 0; turn < 20; turn++) await page.mouse.wheel(0, 600)
  await look(1, nameOf(total - 1))
  await look(0, nameOf(0))
  const longestFrame = Number(await page.evaluate('globalThis.longestFrame'))
  expect(mostItems).toBeLessThan(200)
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
