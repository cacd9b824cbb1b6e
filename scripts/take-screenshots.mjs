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
  await page.goto(link)
  await page.getByText('admin: read, call, write, admin').waitFor()
  await page.goto(`${page.url()}#tools.search`)
  const operation = page.locator('details[open]')
  const body = { query: 'when is the next public holiday', limit: 2 }
  await operation.getByLabel('body').fill(JSON.stringify(body, null, 2))
  await operation.getByRole('button', { name: 'Send' }).click()
  await operation.locator('.status', { hasText: '200 OK' }).waitFor()
  await page.screenshot({ path: 'docs/pictures/docs-page.png' })
  await browser.close()
}
