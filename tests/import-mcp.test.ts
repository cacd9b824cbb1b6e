import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { changingServer, openSources, tool } from './support/open-sources.ts'
import { tempFile, tempFolder, tempScript } from './support/temp-folder.ts'

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

it('adds the server of a server.json: the exact command is shown, and nothing is started before it is approved', async () => {
  const folder = tempFolder()
  const server = changingServer({ tools: [tool('read')] })
  const { command, args } = server.definition
  // Without a package registry, the runner of packages is a stand-in that starts the server and records its words.
  const words = `${folder}/words`
  tempScript('npx', `#!/bin/sh\nprintf '%s\\n' "$@" > '${words}'\nexec '${command}' '${args.join("' '")}'\n`, folder)
  const { run, request, context } = await openSources({ PATH: `${folder}:${process.env.PATH}` })
  const file = tempFile(
    'server.json',
    JSON.stringify({
      name: 'io.github.someone/archive',
      description: 'An archive',
      version: '1.2.3',
      packages: [
        {
          registryType: 'npm',
          identifier: '@someone/archive',
          version: '1.2.3',
          transport: { type: 'stdio' },
          packageArguments: [{ type: 'positional', valueHint: 'folder', isRequired: true }],
          environmentVariables: [{ name: 'ARCHIVE_ACCOUNT', isRequired: true, isSecret: true }],
        },
      ],
    }),
  )
  const missing = await run('add', `registry:${file}`)
  expect(missing).toMatchObject({ code: 2, err: expect.stringContaining('--set folder=VALUE') })
  expect(missing.err).toContain('--env ARCHIVE_ACCOUNT=VALUE (a secret)')
  const values = ['--set', 'folder=/srv/my archive', '--env', 'ARCHIVE_ACCOUNT=account-12345678']
  const shown = await run('add', `registry:${file}`, ...values)
  expect(shown).toMatchObject({ code: 0, out: expect.stringContaining('nothing was started') })
  expect(shown.err).toContain(
    "ARCHIVE_ACCOUNT=secret:archive.ARCHIVE_ACCOUNT npx -y @someone/archive@1.2.3 '/srv/my archive'",
  )
  expect(shown.err + shown.out).not.toContain('account-12345678')
  expect(server.starts()).toEqual([])
  expect(await run('sources', 'approve', 'archive', '--yes')).toMatchObject({ code: 0 })
  expect(readFileSync(words, 'utf8').split('\n')).toEqual(['-y', '@someone/archive@1.2.3', '/srv/my archive', ''])
  expect((await request('GET', '/sources/archive')).body).toMatchObject({ state: 'started', tools: 1 })
  expect((await context.catalog.open()).get('archive__read')).not.toBeNull()
  expect(await run('add', 'other')).toMatchObject({ code: 2, err: expect.stringContaining('registry:FILE') })
})
