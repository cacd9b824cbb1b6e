import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { copyDatabaseTo } from './support/migrated-database.ts'
import { noBrowser, openBrowser } from './support/open-browser.ts'
import { projectRoot } from './support/run-cli.ts'
import { type PlainServer, startPlainServer } from './support/start-plain-server.ts'
import { tempFolder } from './support/temp-folder.ts'
import { watchPage } from './support/watch-page.ts'

// A story of many steps in a browser: a slow machine takes minutes for it.
vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 })

const scriptOf = (greeting: string) => `def main(args):\n    return {"greeting": "${greeting}, " + args["name"]}\n`
const inputSchema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }

describe.skipIf(noBrowser !== '')(`a newcomer${noBrowser}`, () => {
  const home = mkdtempSync(join(tmpdir(), 'tooldex-journey-'))
  let server: PlainServer
  let browser: Browser

  beforeAll(async () => {
    copyDatabaseTo(home)
    server = await startPlainServer({ TOOLDEX_HOME: home, TOOLDEX_API_KEY: '', DATABASE_URL: '' }, ['--examples'])
    browser = await openBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await server?.stop()
    rmSync(home, { recursive: true, force: true })
  })

  it('connects, searches, tries, creates, changes, rolls back, imports and approves', async () => {
    const { page, context, complaints } = await watchPage(browser, server.url)
    const heading = (name: string) => page.locator('h1', { hasText: name })
    const dialog = page.getByRole('dialog')
    const visit = (name: string) =>
      page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name, exact: true }).click()
    const tab = (name: string) => page.getByRole('tab', { name, exact: true }).click()
    /** Replaces the code of an editor by typed and then by pasted text: what Playwright fills in is an edit of the page. */
    const replaceCode = async (label: string, text: string) => {
      const editor = page.locator('.cm-content').and(page.getByLabel(label))
      await editor.click()
      await page.keyboard.press('Control+a')
      await page.keyboard.type('# new')
      await page.keyboard.press('Control+a')
      const event = "new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true })"
      const steps = [
        'const clipboardData = new DataTransfer()',
        `clipboardData.setData('text/plain', ${JSON.stringify(text)})`,
        `document.activeElement.dispatchEvent(${event})`,
      ]
      await page.evaluate(`{ ${steps.join('; ')} }`)
    }
    const run = async (name: string) => {
      await tab('Try it')
      await page.getByLabel('name', { exact: false }).first().fill(name)
      await page.getByRole('button', { name: 'Run', exact: true }).click()
    }

    // Start: the link of the first start.
    await page.goto(/log in at (\S+)/.exec(server.said())?.[1] ?? '')
    await heading('Home').waitFor()

    // Connect a client.
    await page.getByLabel('Name of the new key').fill('agent')
    await page.getByRole('button', { name: 'Create a key' }).click()
    const entry = await page.getByRole('tabpanel', { name: 'Claude Code' }).locator('pre').last().textContent()
    const { url, headers } = JSON.parse(entry ?? '').mcpServers.tooldex
    const agent = new Client({ name: 'agent', version: '1' }, { versionNegotiation: { mode: 'auto' } })
    await agent.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }))
    expect((await agent.listTools()).tools.map(({ name }) => name)).toContain('search_tools')
    await page.getByText('Connected: the key has been used.').waitFor()

    // Search, and try what was found.
    await visit('Catalog')
    await page.getByLabel('Search tools').fill('count the words of a text')
    await page.getByRole('list', { name: 'Tools' }).getByRole('link', { name: 'text_statistics' }).first().click()
    await heading('text_statistics').waitFor()
    await tab('Try it')
    await page.getByLabel('text', { exact: false }).first().fill('One two. Three.')
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await page.getByText('sentences:').waitFor()

    // Create a Python tool.
    await visit('Catalog')
    await page.getByRole('button', { name: 'New tool' }).click()
    await page.getByLabel('Name', { exact: true }).fill('greet_person')
    await page.getByRole('textbox', { name: 'Description', exact: true }).fill('Greets a person by name.')
    await page.getByLabel('Executor', { exact: true }).selectOption('python')
    await tab('JSON')
    await page.getByLabel('Input schema (JSON)').fill(JSON.stringify(inputSchema))
    await replaceCode('Script (Python)', scriptOf('Hello'))
    await page.getByRole('button', { name: 'Review and save' }).click()
    await dialog.getByRole('button', { name: 'Save', exact: true }).click()
    await heading('greet_person').waitFor()
    await page.getByRole('button', { name: 'Activate' }).click()
    await page.getByText('greet_person is active now.').waitFor()

    // See its run.
    await run('Ada')
    await page.getByText('"Hello, Ada"').waitFor()
    await visit('Executions')
    await page.getByRole('link', { name: 'greet_person' }).first().click()
    await page.getByText('Claimed and started').waitFor()
    await page.getByText('"Hello, Ada"').waitFor()

    // Change it, compare the versions, and roll back.
    await page.goto(`${server.url}/tools/greet_person/edit`)
    await replaceCode('Script (Python)', scriptOf('Good morning'))
    await page.getByRole('button', { name: 'Review and save' }).click()
    await dialog.getByLabel('Changelog').fill('Friendlier')
    await dialog.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Saved greet_person, version 2.').waitFor()
    await run('Ada')
    await page.getByText('"Good morning, Ada"').waitFor()
    await tab('Versions')
    await page.getByText('Version 1 compared with version 2').waitFor()
    await page.getByText('Friendlier').waitFor()
    for (const greeting of ['Hello', 'Good morning'])
      await page.locator('main').getByText(`"${greeting}, "`).first().waitFor()
    await page.getByRole('button', { name: /^Version 1/ }).click()
    await page.getByRole('button', { name: 'Roll back to version 1' }).click()
    await dialog.getByRole('button', { name: 'Roll back' }).click()
    await page.getByRole('button', { name: /^Version 3/ }).waitFor()
    await run('Grace')
    await page.getByText('"Hello, Grace"').waitFor()

    // Import an MCP server from the configuration of a client, and review its exact command.
    const file = join(tempFolder(), 'definitions.json')
    const tools = [{ name: 'read_note', description: 'Reads a note.', inputSchema: { type: 'object', properties: {} } }]
    writeFileSync(file, JSON.stringify({ tools }))
    const script = join(projectRoot, 'tests/upstreams/changing-server.mjs')
    const client = { mcpServers: { notes: { command: process.execPath, args: [script, file] } } }
    await visit('Import')
    const upload = { name: 'mcp.json', mimeType: 'application/json', buffer: Buffer.from(JSON.stringify(client)) }
    await page.locator('input[type="file"]').setInputFiles(upload)
    await page.getByRole('button', { name: 'Add as sources' }).click()
    await page.getByRole('link', { name: 'Review and approve' }).click()
    await page.getByText(`${process.execPath} ${script} ${file}`).waitFor()
    await page.getByRole('button', { name: 'Approve and read its tools' }).click()
    await page.getByText('Reads a note.').waitFor()

    // Protect a tool, and approve the call of the agent.
    await page.goto(`${server.url}/admin?tab=policies`)
    await page.getByRole('button', { name: 'Create a policy' }).click()
    await dialog.getByLabel('Name', { exact: true }).fill('careful')
    const policy = { default: 'enabled', tools: { greet_person: { requireApproval: true } } }
    await dialog.getByLabel('Definition (JSON)').fill(JSON.stringify(policy))
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('row', { name: 'careful' }).waitFor()
    const call = { name: 'call_tool', arguments: { name: 'greet_person', arguments: { name: 'Alan' } } }
    const called = agent.callTool(call)
    await visit('Home')
    await page.getByRole('button', { name: 'Approve' }).first().click()
    await dialog.getByRole('button', { name: 'Approve' }).click()
    await page.getByRole('button', { name: 'Approve' }).waitFor({ state: 'detached' })
    await called
    await visit('Executions')
    await page.getByRole('link', { name: 'greet_person' }).first().click()
    await page.locator('h1').getByText('Success').waitFor()
    await page.getByText('"Hello, Alan"').waitFor()

    await agent.close()
    await context.close()
    expect(complaints).toEqual([])
  })
})
