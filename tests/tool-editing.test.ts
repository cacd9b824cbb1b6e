import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { needs } from './support/needs.ts'
import { register } from './support/rest.ts'
import { mainFile, runCli } from './support/run-cli.ts'
import { startServer, type TestServer } from './support/start-server.ts'
import { lastingFolder, tempScript } from './support/temp-folder.ts'

let server: TestServer
const scratch = lastingFolder()
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server?.stop())

const env = (editor: string) => ({
  TOOLDEX_URL: server.url,
  TOOLDEX_API_KEY: server.key,
  VISUAL: '',
  EDITOR: editor,
  TMPDIR: scratch,
})
const edit = (words: readonly string[], editor = 'false') => runCli(['tools', 'edit', ...words], { env: env(editor) })
const read = async (name: string) => (await server.request('GET', `/tools/${name}`)).body
/** An editor that does what the words say to sed. */
const sed = (words: string) => tempScript('editor', `#!/bin/sh\nexec sed -i ${words} "$1"\n`)
const left = () => readdirSync(scratch).filter((name) => name.startsWith('tooldex-edit-'))

describe('tooldex tools edit in an editor', () => {
  it('makes the next version of what was changed, with its changelog, and leaves no file', async () => {
    await register(server, 'by_hand', { summary: 'Short.', tags: ['kept'] })
    const editor = sed(
      `-e 's/^summary: .*/summary: Shorter./' -e '/^tags:/,+1d' -e 's/^changelog: .*/changelog: shorter/'`,
    )
    expect(await edit(['by_hand'], editor)).toMatchObject({ code: 0, stdout: 'by_hand is DRAFT, version 2.\n' })
    expect(await read('by_hand')).toMatchObject({ summary: 'Shorter.', tags: ['kept'], version: 2 })
    expect((await server.request('GET', '/tools/by_hand/versions/2')).body.changelog).toBe('shorter')
    expect(left()).toEqual([])
  })

  it('changes nothing where nothing was changed, or the editor fails or is not there', async () => {
    await register(server, 'left_alone')
    expect(await edit(['left_alone'], 'true')).toMatchObject({ code: 0, stdout: 'Nothing changed.\n' })
    const failed = await edit(['left_alone'], 'sh -c "exit 3"')
    expect([failed.code, failed.stderr]).toEqual([2, expect.stringContaining('exited with 3; nothing was changed')])
    const missing = await edit(['left_alone'], 'no-such-editor --wait')
    expect([missing.code, missing.stderr]).toEqual([
      2,
      expect.stringContaining("The editor 'no-such-editor --wait' was not found"),
    ])
    expect((await read('left_alone')).version).toBe(1)
    expect(left()).toEqual([])
  })

  it('keeps a rejected text, and reports its problems by line', async () => {
    await register(server, 'refused')
    const { code, stderr } = await edit(['refused'], sed(`'s/^displayName: .*/displayName: ""/'`))
    const [, next = '', file = ''] = /run: tooldex (tools edit refused (\S+\.yaml))\n$/.exec(stderr) ?? []
    expect([code, stderr]).toEqual([2, expect.stringContaining(`${file}:4:`)])
    expect(readFileSync(file, 'utf8')).toContain('displayName: ""')
    expect((await read('refused')).version).toBe(1)
    writeFileSync(file, readFileSync(file, 'utf8').replace('displayName: ""', 'displayName: Mended'))
    expect((await runCli(next.split(' '), { env: env('false') })).stdout).toBe('refused is DRAFT, version 2.\n')
  })

  it('refuses a change on what somebody else has changed meanwhile', async () => {
    await register(server, 'raced')
    const meanwhile = tempScript(
      'editor',
      `#!/bin/sh\nsed -i 's/^summary: .*/summary: Mine./' "$1"\nexec '${process.execPath}' '${mainFile}' tools edit raced --set summary=Theirs.\n`,
    )
    const { code, stderr } = await edit(['raced'], meanwhile)
    expect([code, stderr]).toEqual([7, expect.stringContaining('Your text is kept')])
    expect(await read('raced')).toMatchObject({ summary: 'Theirs.', version: 2 })
  })

  const hasScript = spawnSync('script', ['--version']).status === 0
  needs(hasScript, 'needs the program script, for a terminal')(
    'lets a user at a terminal fix a rejected edit',
    async () => {
      await register(server, 'mended')
      const editor = tempScript(
        'editor',
        `#!/bin/sh\nif grep -q '^displayName: ""' "$1"; then sed -i 's/^displayName: ""/displayName: Mended/' "$1"\nelse sed -i 's/^displayName: .*/displayName: ""/' "$1"; fi\n`,
      )
      const line = [process.execPath, mainFile, 'tools', 'edit', 'mended'].map((word) => `'${word}'`).join(' ')
      const child = spawn('script', ['-qec', line, '/dev/null'], { env: { ...process.env, ...env(editor) } })
      let said = ''
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        said += text
      })
      const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
      for (const late = Date.now() + 60_000; !said.includes('Press Enter to fix it') && Date.now() < late; )
        await sleep(50)
      expect(said).toContain('displayName')
      child.stdin.write('\n')
      expect(await ended).toBe(0)
      expect(said).toContain('mended is DRAFT, version 2.')
      expect((await read('mended')).displayName).toBe('Mended')
    },
  )
})

describe('tooldex tools edit --set', () => {
  it('changes fields and parts of fields, by the name of the category, in one version', async () => {
    await register(server, 'set_here')
    await server.request('POST', '/categories', { body: { name: 'Network' } })
    const words = [
      '--set',
      'category=Network',
      '--set',
      'tags=[a, b]',
      '--set',
      'inputSchema.properties.more.type=string',
    ]
    expect(await edit(['set_here', ...words])).toMatchObject({ code: 0, stdout: 'set_here is DRAFT, version 2.\n' })
    const tool = await read('set_here')
    expect(tool).toMatchObject({ tags: ['a', 'b'], inputSchema: { properties: { more: { type: 'string' } } } })
    expect((await server.request('GET', '/tools?category=Network')).body.items).toHaveLength(1)
    expect((await edit(['set_here', '--set', 'summray=x'])).stderr).toContain("Did you mean 'summary'")
    expect((await edit(['set_here', 'file.yaml', '--set', 'summary=x'])).code).toBe(2)
    expect(existsSync('file.yaml')).toBe(false)
  })
})

describe('tooldex categories edit', () => {
  it('renames a category and changes its description', async () => {
    await server.request('POST', '/categories', { body: { name: 'Old' } })
    const run = (...words: string[]) => runCli(['categories', 'edit', 'Old', ...words], { env: env('false') })
    expect((await run()).code).toBe(2)
    expect((await run('--name', 'New', '--description', 'What is new.')).stdout).toBe('New is changed.\n')
    expect((await server.request('GET', '/categories/New')).body).toMatchObject({ description: 'What is new.' })
  })
})
