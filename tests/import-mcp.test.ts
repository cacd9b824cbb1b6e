import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { changingServer, openSources, tool } from './support/open-sources.ts'
import { tempFile } from './support/temp-folder.ts'

it('imports the file of a client after it was shown, and moves its secrets to stored ones', async () => {
  const { run, request, stores, context } = await openSources()
  const server = changingServer({ tools: [tool('read')] })
  const mcpServers = {
    'my archive': { ...server.definition, env: { ARCHIVE_TOKEN: 'tok-12345678', MODE: 'fast' } },
    old: { command: 'old-server', disabled: true },
    broken: { command: 'no-such-program-here' },
  }
  const file = tempFile('mcp.json', JSON.stringify({ mcpServers }))
  const before = readFileSync(file, 'utf8')
  for (const flags of [['--dry-run'], []]) {
    const shown = await run('import', 'mcp', file, ...flags)
    expect(shown).toMatchObject({ code: 0, out: expect.stringContaining('Nothing is imported') })
    expect(shown.err).toContain(server.definition.args[1])
    expect(shown.err).toContain('secret:my-archive.ARCHIVE_TOKEN')
    expect(shown.err + shown.out).not.toContain('tok-12345678')
  }
  expect(await stores.sources.list('default')).toEqual([])
  expect(server.starts()).toEqual([])
  const imported = await run('import', 'mcp', file, '--yes')
  expect(imported.out.split('\n').slice(0, 3)).toEqual([
    'my-archive: started',
    'old: skipped, it is disabled',
    expect.stringMatching(/^broken: failed, /),
  ])
  expect(imported.code).toBe(1)
  expect(imported.err + imported.out).not.toContain('tok-12345678')
  expect((await request('GET', '/sources/my-archive')).body.server.env).toEqual({
    ARCHIVE_TOKEN: 'secret:my-archive.ARCHIVE_TOKEN',
    MODE: 'fast',
  })
  expect((await context.catalog.open()).get('my-archive__read')).not.toBeNull()
  const again = await run('import', 'mcp', file, '--yes', '--only', 'my-archive', '--json')
  expect(JSON.parse(again.out).items).toMatchObject([{ name: 'my-archive', state: 'not imported' }])
  expect(readFileSync(file, 'utf8')).toBe(before)
})
