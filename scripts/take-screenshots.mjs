// Takes the pictures of the documents from a server of its own: npm run screenshots [-- NAME...] (needs Chromium).
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import { consolePages } from './pictures/console-pages.mjs'
import { fillServer } from './pictures/fill-server.mjs'

/** Suffix of the file, theme, width and height. */
const shapes = [
  ['', 'light', 1280, 800],
  ['-dark', 'dark', 1280, 800],
  ['-narrow', 'light', 360, 740],
  ['-narrow-dark', 'dark', 360, 740],
]

const wanted = process.argv.slice(2)
const folder = process.env.PICTURES ?? 'docs/pictures'
const home = mkdtempSync(join(tmpdir(), 'tooldex-pictures-'))
// The home of the server is hidden from the programs that it starts.
const files = mkdtempSync(join(tmpdir(), 'tooldex-files-'))
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
  mkdirSync(folder, { recursive: true })
  await takePictures(link)
} finally {
  server.kill('SIGTERM')
  await ended
  for (const each of [home, files]) rmSync(each, { recursive: true, force: true })
}

async function takePictures(link) {
  const { origin, hash } = new URL(link)
  const ids = await fillServer(origin, decodeURIComponent(hash.slice('#key='.length)), files)
  const args = process.geteuid?.() === 0 ? ['--no-sandbox'] : []
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args })
  const pages = consolePages(ids).filter(([name]) => wanted.length === 0 || wanted.includes(name))
  try {
    for (const shape of shapes) await takeShape(browser, { link, pages, shape })
  } finally {
    await browser.close()
  }
}

async function takeShape(browser, { link, pages, shape: [suffix, colorScheme, width, height] }) {
  const page = await browser.newPage({ viewport: { width, height }, colorScheme, reducedMotion: 'reduce' })
  // A busy machine takes long for the first page.
  page.setDefaultTimeout(180_000)
  const { origin } = new URL(link)
  const session = await page.context().newCDPSession(page)
  const take = async (name) => {
    const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: 90 })
    writeFileSync(join(folder, `console-${name}${suffix}.webp`), Buffer.from(data, 'base64'))
  }
  await page.goto(origin)
  await page.getByLabel('API key').waitFor()
  if (wanted.length === 0 || wanted.includes('sign-in')) await take('sign-in')
  await page.goto(link)
  await page.locator('h1', { hasText: 'Home' }).waitFor()
  for (const [name, path, ready] of pages) {
    await page.goto(origin + path)
    await ready(page)
    await page.evaluate('document.fonts.ready.then(() => undefined)')
    await take(name)
  }
  await page.close()
}
