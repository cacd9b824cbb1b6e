// Takes the pictures of the documents from a server of its own: npm run screenshots (needs Chromium).
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium } from 'playwright-core'

const home = mkdtempSync(join(tmpdir(), 'tooldex-pictures-'))
const env = { ...process.env, TOOLDEX_HOME: home, TOOLDEX_API_KEY: '', DATABASE_URL: '' }
const server = spawn(process.execPath, ['dist/app/main.js', 'serve', '--examples', '--port', '0'], {
  env,
  stdio: ['ignore', 'ignore', 'pipe'],
})
const ended = new Promise((resolve) => server.once('close', resolve))
try {
  const link = await new Promise((resolve, reject) => {
    let said = ''
    server.stderr.setEncoding('utf8').on('data', (text) => {
      said += text
      const [, found] = /log in at (\S+)\n/.exec(said) ?? []
      if (found !== undefined) resolve(found)
    })
    server.once('close', () => reject(new Error(`the server ended: ${said}`)))
  })
  mkdirSync('docs/pictures', { recursive: true })
  await takePictures(link)
} finally {
  server.kill('SIGTERM')
  await ended
  rmSync(home, { recursive: true, force: true })
}

async function takePictures(link) {
  const args = process.geteuid?.() === 0 ? ['--no-sandbox'] : []
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args })
  const page = await browser.newPage({ viewport: { width: 1100, height: 680 } })
  const { origin, hash } = new URL(link)
  await page.goto(`${origin}/docs${hash}`)
  await page.getByText('admin: read, call, write, admin').waitFor()
  await page.goto(`${page.url()}#tools.search`)
  const operation = page.locator('details[open]')
  const body = { query: 'when is the next public holiday', limit: 2 }
  await operation.getByLabel('body').fill(JSON.stringify(body, null, 2))
  await operation.getByRole('button', { name: 'Send' }).click()
  await operation.locator('.status', { hasText: '200 OK' }).waitFor()
  await page.screenshot({ path: 'docs/pictures/docs-page.png' })
  await page.close()
  await takeConsolePictures(browser, link)
  await browser.close()
}

/** Pages of the console: wide in both themes, and narrow. */
async function takeConsolePictures(browser, link) {
  const { origin, hash } = new URL(link)
  await makeCalls(origin, decodeURIComponent(hash.slice('#key='.length)))
  const pages = [
    ['home', '/', (page) => page.locator('.uplot canvas').nth(1).waitFor()],
    [
      'catalog',
      '/catalog?q=how%20many%20words%20does%20it%20have&why=1',
      (page) => page.locator('ul li').getByText('meaning').first().waitFor(),
    ],
    [
      'tool',
      '/tools/text_statistics',
      (page) =>
        page
          .getByText(/ tokens$/)
          .first()
          .waitFor(),
    ],
    ['try', '/tools/text_statistics?tab=try', tryTool],
    ['design', '/design', (page) => page.getByText('Page heading').waitFor()],
  ]
  const shapes = [
    ['', 'light', 1200, 760],
    ['-dark', 'dark', 1200, 760],
    ['-narrow', 'light', 360, 700],
  ]
  for (const [suffix, colorScheme, width, height] of shapes) {
    const page = await browser.newPage({ viewport: { width, height }, colorScheme, reducedMotion: 'reduce' })
    await page.goto(link)
    await page.locator('h1').waitFor()
    for (const [name, path, ready] of pages) {
      await page.goto(origin + path)
      await ready(page)
      await page.screenshot({ path: `docs/pictures/console-${name}${suffix}.png` })
    }
    await page.close()
  }
}

async function makeCalls(origin, key) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const inputs = [...'one two three four five six'.split(' ').map((text) => ({ text })), { text: 'seven', top: 0 }]
  for (const input of inputs) {
    const body = JSON.stringify({ input, wait: true })
    await fetch(`${origin}/api/v1/tools/text_statistics/execute`, { method: 'POST', headers, body })
  }
  const body = JSON.stringify({ input: { path: '/nowhere' }, wait: true })
  await fetch(`${origin}/api/v1/tools/folder_sizes/execute`, { method: 'POST', headers, body })
}

async function tryTool(page) {
  await page.getByLabel('text', { exact: false }).first().fill('The quick brown fox jumps over the lazy dog.')
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  await page.getByText('sentences:').waitFor()
}
