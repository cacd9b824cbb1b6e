// The web console in Chromium: what the first page loads, when it is there, and the search of the catalog while typing.
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import { median, ms, percentile, table } from './measure.mjs'

const toolCount = 20_000
const loads = 10
const query = 'list the newest records of a customer'
const main = new URL('../dist/app/main.js', import.meta.url).pathname

export async function run() {
  const home = mkdtempSync(join(tmpdir(), 'tooldex-console-bench-'))
  const config = join(home, 'many.yaml')
  writeFileSync(config, JSON.stringify(manyTools()))
  const { link, stop } = await startServer(home, config)
  const browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: process.geteuid?.() === 0 ? ['--no-sandbox', '--disable-gpu'] : ['--disable-gpu'],
  })
  try {
    const first = await measureFirstPage(browser, link)
    const keys = await measureTyping(browser, link)
    return table(
      ['measure', 'result'],
      [
        ['first page, transferred (gzip)', `${(first.bytes / 1000).toFixed(0)} kB in ${first.requests} requests`],
        ['first contentful paint, empty cache, p50 / p95', both(first.paints)],
        ['first numbers shown, empty cache, p50 / p95', both(first.shown)],
        [`answer per key, ${toolCount.toLocaleString('en')} tools, p50 / p95`, both(keys)],
      ],
    )
  } finally {
    await browser.close()
    await stop()
    rmSync(home, { recursive: true, force: true })
  }
}

const both = (times) => `${ms(median(times))} / ${ms(percentile(times, 0.95))}`

function manyTools() {
  const [verbs, nouns] = [
    ['list', 'create', 'delete', 'update', 'send', 'read', 'count', 'export', 'import', 'search'],
    ['record', 'customer', 'invoice', 'order', 'ticket', 'report', 'file', 'message', 'user', 'event'],
  ]
  const tools = Array.from({ length: toolCount }, (_, index) => {
    const [verb, noun, other] = [
      verbs[index % 10],
      nouns[Math.floor(index / 10) % 10],
      nouns[Math.floor(index / 100) % 10],
    ]
    return {
      name: `${verb}_${noun}_${index}`,
      description: `${verb} each ${noun} that belongs to the ${other} number ${index}`,
      command: verb,
    }
  })
  return { name: 'many', description: 'A large catalog', command: 'echo', tools }
}

async function startServer(home, config) {
  const env = { ...process.env, TOOLDEX_HOME: home, TOOLDEX_API_KEY: '', DATABASE_URL: '', TOOLDEX_LEARNING: 'off' }
  const server = spawn(process.execPath, [main, 'serve', config, '--port', '0'], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const ended = new Promise((resolve) => server.once('close', resolve))
  const link = await new Promise((resolve, reject) => {
    let said = ''
    server.stderr.setEncoding('utf8').on('data', (text) => {
      said += text
      const [, found] = /log in at (\S+)\n/.exec(said) ?? []
      if (found !== undefined) resolve(found)
    })
    server.once('close', () => reject(new Error(`the server ended: ${said}`)))
  })
  const stop = async () => {
    server.kill('SIGTERM')
    await ended
  }
  return { link, stop }
}

async function measureFirstPage(browser, link) {
  const { origin } = new URL(link)
  const [paints, shown] = [[], []]
  let [bytes, requests] = [0, 0]
  for (let load = 0; load < loads; load++) {
    const context = await browser.newContext()
    const page = await context.newPage()
    // Signs in without reading the files of the pages.
    const key = decodeURIComponent(new URL(link).hash.slice('#key='.length))
    const headers = { 'x-tooldex-session': '1', 'sec-fetch-site': 'same-origin' }
    await context.request.post(`${origin}/session`, { data: { key }, headers })
    await page.goto(origin)
    await page
      .locator('dd', { hasText: toolCount.toLocaleString('en') })
      .first()
      .waitFor()
    const timing = await page.evaluate(async () => {
      // Chromium may report it after the text is there.
      const paint = await new Promise((resolve) => {
        new PerformanceObserver((list) => {
          const [found] = list.getEntriesByName('first-contentful-paint')
          if (found !== undefined) resolve(found)
        }).observe({ type: 'paint', buffered: true })
      })
      const files = performance.getEntriesByType('resource').filter(({ name }) => name.includes('/assets/'))
      return {
        paint: paint.startTime,
        shown: performance.now(),
        names: files.map(({ name }) => new URL(name).pathname),
      }
    })
    paints.push(timing.paint)
    shown.push(timing.shown)
    bytes = timing.names.reduce((sum, name) => sum + gzipSize(name), 0)
    requests = timing.names.length
    await context.close()
  }
  return { bytes, requests, paints, shown }
}

/** The size of an asset as gzip; fonts are compressed already. */
function gzipSize(name) {
  const file = new URL(`../dist/web${name}`, import.meta.url)
  const packed = new URL(`${file.href}.gz`)
  return statSync(existsSync(packed) ? packed : file).size
}

async function measureTyping(browser, link) {
  const page = await browser.newPage()
  await page.goto(link)
  await page.locator('h1', { hasText: 'Home' }).waitFor()
  await page.goto(`${new URL(link).origin}/catalog`)
  const field = page.getByLabel('Search tools')
  const durations = []
  await field.pressSequentially('warm up', { delay: 150 })
  await field.fill('')
  for (const char of query) {
    // The counts of the filters follow when typing pauses.
    const answered = page.waitForResponse(
      (response) => response.url().endsWith('/api/v1/search') && response.request().postDataJSON().facets !== true,
    )
    await field.pressSequentially(char)
    const request = (await answered).request()
    await (await answered).finished()
    durations.push(request.timing().responseEnd)
  }
  await page.close()
  return durations
}
