import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { changingServer, openSources, tool } from './support/open-sources.ts'

it('definitions beyond the limits are left out, and counted in the log, over REST and by tooldex sources show', async () => {
  const { request, run, lines } = await openSources()
  const long = 'x'.repeat(900_000)
  const tools = Array.from({ length: 6 }, (_, n) => tool(`t${n}`, { description: `${n} ${long}` }))
  const { definition } = changingServer({ tools: [...tools, { description: 'no name' }] })
  const { approval } = (await request('POST', '/sources', { body: { name: 'archive', ...definition } })).body
  const approved = await request('POST', '/sources/archive/approve', { body: { hash: approval.hash } })
  expect(approved.body).toMatchObject({ tools: 4, leftOut: 3 })
  expect(lines.join()).toContain('definitions of a source were left out')
  expect((await run('sources', 'show', 'archive')).out).toContain('At least 3 definitions were left out: beyond')
})

it('a registered tool in the namespace of a new source is named, also one that is not offered', async () => {
  const { request } = await openSources()
  const draft = {
    name: 'archive_read',
    namespace: 'Archive',
    displayName: 'Read',
    description: 'Read an archive',
    executorType: 'http',
  }
  const body = {
    ...draft,
    inputSchema: { type: 'object' },
    executorConfig: { method: 'GET', url: 'https://example.com/' },
  }
  const created = await request('POST', '/tools', { body })
  expect(created.status, created.text).toBe(201)
  const { definition } = changingServer()
  const refused = await request('POST', '/sources', { body: { name: 'archive', ...definition } })
  expect(refused).toMatchObject({ status: 409, body: { code: 'NAME_TAKEN' } })
  expect(refused.body.hint).toContain('Registered tools have it: archive_read (DRAFT).')
})

it('a private address is refused with the command that allows it, which then approves it', async () => {
  const refusing = createServer((_, response) => response.writeHead(404).end())
  await new Promise<void>((resolve) => refusing.listen(0, '127.0.0.1', () => resolve()))
  onTestFinished(() => void refusing.close())
  const { run } = await openSources()
  const url = `http://127.0.0.1:${(refusing.address() as AddressInfo).port}/mcp`
  const added = await run('add', 'local', url, '--yes')
  expect(added.out).toContain(
    '127.0.0.1 is not a public address; an administrator may allow it: tooldex sources approve local --allow-private',
  )
  const allowed = await run('sources', 'approve', 'local', '--allow-private', '--yes')
  expect(allowed.err).toContain(`${url} (private addresses allowed)`)
  expect(allowed.out).toContain('responded with HTTP 404')
})

it('a URL of another scheme, or with words after it, is not taken for a command', async () => {
  const { run } = await openSources()
  for (const words of [['ftp://files.example.com/mcp'], ['https://mcp.example.com/mcp', 'more']]) {
    const refused = await run('add', 'remote', ...words)
    expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('is neither the URL of an MCP server nor')])
  }
})
