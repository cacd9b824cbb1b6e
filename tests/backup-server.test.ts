import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { saveDump } from '../src/operations/database/dump-file.ts'
import { migratedHome } from './support/migrated-database.ts'
import { expectProblem, register } from './support/rest.ts'
import { runCli } from './support/run-cli.ts'
import { runInline } from './support/run-here.ts'
import { startServer, type TestServer } from './support/start-server.ts'
import { lastingFolder, tempFolder } from './support/temp-folder.ts'

/** Where the server writes its temporary files; nobody else does. */
const scratch = lastingFolder()
let server: TestServer
beforeAll(async () => {
  server = await startServer({ words: ['coreutils'], env: { TMPDIR: scratch } })
  await register(server, 'kept_tool', { description: 'Line\u2028ends, "quotes" and 💡.' })
})
afterAll(() => server?.stop())

const env = (more: Record<string, string> = {}) => ({
  TOOLDEX_HOME: server.home,
  TOOLDEX_API_KEY: server.key,
  TOOLDEX_URL: '',
  DATABASE_URL: '',
  ...more,
})
const keyFor = async (scope: string, workspace?: string) => {
  const body = { name: `${scope} ${workspace}`, scopes: [scope], workspace }
  return (await server.request('POST', '/keys', { body })).body.secret as string
}

describe('the backup of a database that a server has open', () => {
  it('is downloaded by administrators as the lines of a dump, and audited', async () => {
    const answer = await server.request('GET', '/database/backup')
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/x-ndjson'])
    const lines = answer.text.trimEnd().split('\n')
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ format: 'tooldex-dump-1' })
    expect(JSON.parse(lines.at(-1) ?? '').rows).toMatchObject({ tools: 1, api_keys: expect.any(Number) })
    const audit = await server.request('GET', '/audit?subject=database')
    expect(audit.body.items[0]).toMatchObject({ action: 'database.backup', actor: 'key:admin' })
  })

  it('is refused to other scopes and other workspaces', async () => {
    for (const scope of ['read', 'call', 'write'])
      expectProblem(await server.request('GET', '/database/backup', { key: await keyFor(scope) }), 403, 'FORBIDDEN')
    const other = await keyFor('admin', 'elsewhere')
    expectProblem(await server.request('GET', '/database/backup', { key: other }), 403, 'FORBIDDEN')
  })

  it('is what db backup and db export write while it runs, and what another home reads back', async () => {
    const folder = tempFolder()
    for (const [command, name] of [
      ['backup', 'all.jsonl'],
      ['export', 'all.jsonl.gz'],
    ] as const) {
      const file = join(folder, name)
      const written = await runCli(['db', command, file, '--json'], { env: env() })
      expect([written.code, written.stderr]).toEqual([0, ''])
      expect(JSON.parse(written.stdout)).toMatchObject({ file, rows: { tools: 1 }, sha256: expect.any(String) })
      expect(statSync(file).mode & 0o777).toBe(0o600)
      const bytes = readFileSync(file)
      expect(String(name.endsWith('.gz') ? gunzipSync(bytes) : bytes)).toContain('kept_tool')
    }
    const home = { ...env(), TOOLDEX_HOME: migratedHome() }
    expect((await runInline(['db', 'restore', join(folder, 'all.jsonl.gz')], { env: home })).code).toBe(0)
    const back = await runInline(['tools', 'get', 'kept_tool', '--json'], { env: home })
    expect(JSON.parse(back.stdout).description).toBe('Line\u2028ends, "quotes" and 💡.')
  })

  it('is taken from a server elsewhere with --server', async () => {
    const file = join(tempFolder(), 'all.jsonl')
    const words = ['db', 'backup', file, '--server', server.url]
    const { code, stdout } = await runInline(words, { env: env({ TOOLDEX_HOME: tempFolder() }) })
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^\d+ rows written to /)])
  })

  it('names the next step without a key, or where the server must be stopped', async () => {
    const file = join(tempFolder(), 'all.jsonl')
    const keyless = await runInline(['db', 'backup', file], { env: env({ TOOLDEX_API_KEY: '' }) })
    expect([keyless.code, keyless.stderr]).toEqual([75, expect.stringContaining('Set TOOLDEX_API_KEY to an admin key')])
    const wrong = await runInline(['db', 'backup', file], { env: env({ TOOLDEX_API_KEY: 'wrong' }) })
    expect(wrong.code).not.toBe(0)
    expect(existsSync(file)).toBe(false)
    await runInline(['db', 'backup', file], { env: env() })
    const restore = await runInline(['db', 'restore', file], { env: env() })
    expect([restore.code, restore.stderr]).toEqual([75, expect.stringContaining('Stop that process, run this')])
  })

  it('leaves no temporary file behind, not even when the client disconnects', async () => {
    const left = () => readdirSync(scratch).filter((name) => name.startsWith('tooldex-backup-'))
    const leaving = new AbortController()
    const headers = { authorization: `Bearer ${server.key}` }
    const response = await fetch(`${server.url}/api/v1/database/backup`, { headers, signal: leaving.signal })
    leaving.abort()
    await response.text().catch(() => {})
    expect((await server.request('GET', '/tools')).status).toBe(200)
    await expect.poll(left).toEqual([])
  })

  it('never appears under its name where it was cut off', async () => {
    const { text } = await server.request('GET', '/database/backup')
    const file = join(tempFolder(), 'cut.jsonl')
    const cut = async function* () {
      yield Buffer.from(text.slice(0, text.length - 30))
    }
    await expect(saveDump(file, cut())).rejects.toMatchObject({ code: 'FILE_REFUSED' })
    expect(existsSync(file)).toBe(false)
  })
})
