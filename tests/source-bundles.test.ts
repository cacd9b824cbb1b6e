import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { callTool } from '../src/operations/runs/call-tool.ts'
import { changingServer, openSources, tool } from './support/open-sources.ts'
import { tempFolder } from './support/temp-folder.ts'

const archive = () => changingServer({ tools: [tool('read'), tool('write')] })
type Sources = Awaited<ReturnType<typeof openSources>>

async function addWithSecret({ request }: Sources, server: ReturnType<typeof archive>): Promise<void> {
  const env = { ARCHIVE_TOKEN: 'tok-12345678', MODE: 'fast' }
  const { approval } = (await request('POST', '/sources', { body: { name: 'archive', ...server.definition, env } }))
    .body
  await request('POST', '/sources/archive/approve', { body: { hash: approval.hash } })
  const headers = { authorization: 'Bearer secret:docs' }
  const remote = { name: 'docs', url: 'https://mcp.example.test/mcp', headers, trust: 'pinned' }
  expect((await request('POST', '/sources', { body: remote })).status).toBe(201)
}

it('carries sources to another registry, with references to secrets, where each command is approved anew', async () => {
  const [first, second] = [await openSources(), await openSources()]
  const server = archive()
  await addWithSecret(first, server)
  const folder = tempFolder()
  const file = join(folder, 'bundle.yaml')
  expect(await first.run('tools', 'export', file)).toMatchObject({ code: 0 })
  const text = readFileSync(file, 'utf8')
  expect(text).toMatch(/ARCHIVE_TOKEN: "?secret:archive\.ARCHIVE_TOKEN"?$/m)
  expect(text).not.toContain('tok-12345678')
  const starts = server.starts().length
  const applied = await second.run('apply', folder)
  expect(applied, applied.err).toMatchObject({ code: 0, out: expect.stringContaining('+ source archive') })
  expect(applied.out).toContain('not started before it is approved: tooldex sources approve archive')
  const { body: waiting } = await second.request('GET', '/sources/archive')
  expect(waiting).toMatchObject({ isApproved: false, state: 'configured', tools: 0 })
  expect(waiting.server.env).toEqual({ ARCHIVE_TOKEN: 'secret:archive.ARCHIVE_TOKEN', MODE: 'fast' })
  expect((await second.request('GET', '/sources/docs')).body).toMatchObject({ trust: 'pinned', isApproved: false })
  expect(server.starts()).toHaveLength(starts)
  await second.request('PUT', '/secrets/archive.ARCHIVE_TOKEN', { body: { value: 'tok-of-another-place' } })
  const approved = await second.request('POST', '/sources/archive/approve', { body: { hash: waiting.approval.hash } })
  expect(approved.body, approved.text).toMatchObject({ state: 'started', tools: 2 })
  const called = await second.client.invoke(callTool, { name: 'archive__write', arguments: {} })
  expect(JSON.stringify(called)).toContain('write ran')
  expect(await second.run('apply', folder)).toMatchObject({ code: 0, out: expect.stringContaining('Nothing to do') })
  expect((await second.request('GET', '/sources/archive')).body).toMatchObject({ isApproved: true })
})

it('asks for an approval again where a file changes the command, and removes a source only with --prune', async () => {
  const { run, request, sync, context } = await openSources()
  const [server, other] = [archive(), archive()]
  const folder = tempFolder()
  const write = (sources: readonly object[]) =>
    writeFileSync(join(folder, 'bundle.json'), JSON.stringify({ tooldex: 1, sources }))
  write([{ name: 'archive', server: server.definition }])
  expect(await run('apply', folder, '--dry-run')).toMatchObject({ out: expect.stringContaining('+ source archive') })
  expect((await request('GET', '/sources/archive')).status).toBe(404)
  expect(await run('apply', folder)).toMatchObject({ code: 0 })
  expect(await run('sources', 'approve', 'archive', '--yes')).toMatchObject({ code: 0 })
  write([{ name: 'archive', trust: 'trusted', server: other.definition }])
  expect(await run('apply', folder)).toMatchObject({
    code: 0,
    out: expect.stringContaining('~ source archive: server, trust'),
  })
  await sync()
  expect((await context.catalog.open()).get('archive__read')).toBeNull()
  expect((await request('GET', '/sources/archive')).body).toMatchObject({ isApproved: false, trust: 'trusted' })
  expect(other.starts()).toEqual([])
  write([])
  expect(await run('apply', folder)).toMatchObject({ out: expect.stringContaining('Nothing to do') })
  expect((await request('GET', '/sources/archive')).status).toBe(200)
  writeFileSync(join(folder, 'limits.yaml'), 'tooldex: 1\nlimits:\n  - name: all\n    callsPerDay: 10\n')
  expect(await run('apply', folder, '--prune')).toMatchObject({ out: expect.stringContaining('- source archive') })
  expect((await request('GET', '/sources/archive')).status).toBe(404)
})

it('shows no source to a caller who is no administrator, and takes no literal secret, and no server without its grant', async () => {
  const opened = await openSources()
  await addWithSecret(opened, archive())
  const { request } = opened
  const { secret: key } = (await request('POST', '/keys', { body: { name: 'writer', scopes: ['write', 'read'] } })).body
  expect((await request('GET', '/bundle', { key })).body.sources).toEqual([])
  expect((await request('GET', '/bundle')).body.sources).toHaveLength(2)
  const folder = tempFolder()
  const yaml =
    'tooldex: 1\nsources:\n  - name: crm\n    server:\n      command: crm\n      env:\n        CRM_TOKEN: tok-12345678\n'
  writeFileSync(join(folder, 'crm.yaml'), yaml)
  const refused = await opened.run('apply', folder)
  expect(refused.code).not.toBe(0)
  expect(refused.err).toMatch(/crm\.yaml:7:\d+.*CRM_TOKEN is a secret/)
  expect(refused.err + refused.out).not.toContain('tok-12345678')
  const misspelled = { name: 'x', server: { command: 'x', arguments: [] } }
  const body = { bundle: { tooldex: 1, sources: [misspelled] } }
  expect((await request('POST', '/bundle', { body })).status).toBe(422)
  for (const name of ['tooldex', 'registry']) {
    const taken = { bundle: { tooldex: 1, sources: [{ name, server: { command: 'crm' } }] } }
    expect((await request('POST', '/bundle', { body: taken })).status).toBe(409)
  }
  const narrow = await openSources({ grants: ['default=mcp'] })
  const sources = [{ name: 'crm', server: { command: 'crm' } }]
  const ungranted = await narrow.request('POST', '/bundle', { body: { bundle: { tooldex: 1, sources } } })
  expect(ungranted).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } })
  expect((await narrow.request('GET', '/sources/crm')).status).toBe(404)
})
