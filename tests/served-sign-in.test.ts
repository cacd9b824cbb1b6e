import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, expect, it, onTestFinished } from 'vitest'
import { eventually, makeKey } from './support/keys.ts'
import { copyDatabaseTo } from './support/migrated-database.ts'
import { signInBrowser } from './support/sign-in-browser.ts'
import { type SharedPostgres, sharedPostgres } from './support/start-postgres.ts'
import { startServer } from './support/start-server.ts'
import { startProtected } from './upstreams/protected-server.ts'

let postgres: SharedPostgres | undefined
afterAll(() => postgres?.stop())

/** Where a server keeps its data, for several starts. */
async function openPlace(engine: string) {
  const home = mkdtempSync(join(tmpdir(), 'tooldex-sign-in-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  if (engine === 'embedded') {
    copyDatabaseTo(home)
    return { home }
  }
  postgres ??= await sharedPostgres()
  return { home, database: await postgres.createDatabase() }
}

const call = { name: 'call_tool', arguments: { name: 'mail__whoami', arguments: {} } }

it.each(['embedded', 'PostgreSQL'])(
  'a caller signs in by a link from MCP, and stays signed in after a restart (%s)',
  async (engine) => {
    const mail = await startProtected()
    const place = await openPlace(engine)
    let server = await startServer(place)
    onTestFinished(() => server.stop())
    const browser = () => signInBrowser({ origin: 'none:', request: () => new Response() })
    const body = { name: 'mail', ...mail.definition, oauth: { mode: 'caller' } }
    const { approval } = (await server.request('POST', '/sources', { body })).body
    await server.request('POST', '/sources/mail/approve', { body: { hash: approval.hash } })
    const { url, revision } = (await server.request('POST', '/sources/mail/sign-in', { body: {} })).body
    expect(url).toContain(server.url)
    const waiting = server.request('GET', `/sources/mail/sign-in?after=${revision}`)
    const signedIn = await browser().signIn(url, 'admin-account', undefined, server.url)
    expect(signedIn.status, signedIn.text).toBe(200)
    expect((await waiting).body).toMatchObject({ isSignedIn: true, mode: 'caller', issuer: mail.issuer })
    const bob = await makeKey(server, 'bob', ['call'])
    const connect = async (opensUrls: boolean) => {
      const capabilities = opensUrls ? { elicitation: { url: {} } } : {}
      const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' }, capabilities })
      if (opensUrls)
        client.setRequestHandler('elicitation/create', async ({ params }) => {
          await browser().signIn(String((params as { url?: string }).url), 'bob-account', undefined, server.url)
          return { action: 'accept' } as never
        })
      const requestInit = { headers: { authorization: `Bearer ${bob}` } }
      await client.connect(new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), { requestInit }))
      return client
    }
    const plain = await connect(false)
    const isNeeded = ({ structuredContent }: object & { structuredContent?: unknown }) =>
      JSON.stringify(structuredContent).includes('SIGN_IN_REQUIRED')
    const refused = await eventually(() => plain.callTool(call), isNeeded)
    expect(JSON.stringify(refused.content)).toContain(`${server.url}/oauth/sign-in?ticket=`)
    const client = await connect(true)
    expect(JSON.stringify((await client.callTool(call)).content)).toContain('bob-account')
    await Promise.all([plain.close(), client.close()])
    await server.stop()
    server = await startServer(place)
    const again = await connect(false)
    const answer = await eventually(
      () => again.callTool(call),
      (result) => !JSON.stringify(result).includes('TOOL_NOT_FOUND'),
    )
    expect(JSON.stringify(answer.content)).toContain('bob-account')
    await again.close()
    expect(server.stderr()).not.toMatch(/Bearer|ticket=/)
  },
)
