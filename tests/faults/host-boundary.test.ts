import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { Sandbox } from '../../src/executors/index.ts'
import { needs } from '../support/needs.ts'
import { startServer, type TestServer } from '../support/start-server.ts'
import { attackedSecrets, attackScript, foundBy, hiddenFile } from './server-attack.ts'

const { levels } = new Sandbox({ env: process.env })
const hasLevels = 'made' in (await levels.isolated.run()) && 'made' in (await levels.confined.run())
const it = needs(hasLevels, 'needs bubblewrap, user namespaces and Landlock of Linux 6.12')
const itAsRoot = needs(hasLevels && process.geteuid?.() === 0, 'needs root, to read the memory of another process')

let [folder, home, script]: string[] = []
let server: TestServer

/** Two configs, one of them without a sandbox, one folder, and whatever tools ask for. */
const served = (): string[] => [
  ...['plain.yaml', 'bare.yaml'].map((name) => join(folder as string, name)),
  ...['--allow-folder', join(folder as string, 'shown'), '--limited', 'bare', '--allow-limited', '--allow-network'],
]

beforeAll(async () => {
  if (!hasLevels) return
  folder = mkdtempSync(join(tmpdir(), 'tooldex-host-'))
  home = join(folder, 'home')
  mkdirSync(home)
  mkdirSync(join(folder, 'shown'))
  writeFileSync(join(home, 'private.txt'), hiddenFile)
  script = join(folder, 'shown', 'attack.py')
  writeFileSync(join(folder, 'shown', 'note.txt'), 'a note')
  writeFileSync(script, '')
  for (const name of ['plain', 'bare'])
    writeFileSync(
      join(folder, `${name}.yaml`),
      [
        `name: ${name}`,
        'command: /usr/bin/python3 -I',
        'network: true',
        'tools:',
        `  - name: ${name}_run`,
        '    description: Runs a script',
        '    args: [{ name: file, positional: true, required: true }, { name: rest, type: array, positional: 2 }]',
        `  - name: ${name}_code`,
        '    description: Runs a text',
        '    command: -c',
        '    args: [{ name: code, positional: true, required: true }]',
        `  - name: ${name}_list`,
        '    description: Lists a folder',
        '    command: -c pass',
        '    args:',
        '      - { name: folder, cwd: true }',
        `      - { name: below, type: path, root: '${join(folder, 'shown')}', positional: true }`,
      ].join('\n'),
    )
  server = await startServer({
    home,
    env: attackedSecrets,
    words: [...served(), '--grant', 'other=all', '--grant', 'third=network'],
  })
  writeFileSync(script, attackScript(server.pid, home))
})

afterAll(async () => {
  await server?.stop()
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
})

const call = async (name: string, args: Record<string, unknown>, key?: string) => {
  const options = { body: { arguments: args }, ...(key === undefined ? {} : { key }) }
  return (await server.request('POST', `/llm/tools/${name}/invoke`, options)).body
}

describe('what a tool can read of its server', () => {
  it('shows nothing of its environment in the process table', () => {
    expect(readFileSync(`/proc/${server.pid}/environ`).some((byte) => byte !== 0)).toBe(false)
  })

  it('opens no debugger port for a signal, in the server or its launcher', async () => {
    await call('plain_run', { file: script })
    const children = readFileSync(`/proc/${server.pid}/task/${server.pid}/children`, 'utf8').trim().split(' ')
    for (const pid of [server.pid, ...children.map(Number)]) process.kill(pid, 'SIGUSR1')
    expect(await call('plain_run', { file: script })).toMatchObject({ success: true })
    expect(server.stderr()).not.toContain('Debugger listening')
  })

  it('nothing from a tool of a config, in the sandbox by default or with limits only', async () => {
    for (const [name, isolation] of [
      ['plain_run', 'isolated'],
      ['bare_run', 'limited'],
    ] as const) {
      const doc = await server.request('POST', '/describe', { body: { ids: [name], level: 'summary' } })
      expect(doc.body.tools[0].isolation, name).toBe(isolation)
      const answer = await call(name, { file: script })
      expect(answer, name).toMatchObject({ success: true })
      expect(foundBy(answer.result), name).toBe('')
    }
  })

  for (const isolation of ['isolated', 'confined', 'limited']) {
    it(`nothing from registered tools: ${isolation}`, async () => {
      const code = attackScript(server.pid, home as string)
      const tools = [
        {
          executorType: 'python',
          executorConfig: { isolation },
          scriptContent: `def main(given):\n    import io, contextlib\n    out = io.StringIO()\n    with contextlib.redirect_stdout(out):\n        exec(${JSON.stringify(code)}, {})\n    return out.getvalue()\n`,
        },
        { executorType: 'shell', executorConfig: { isolation, command: ['/usr/bin/python3', '-I', '-c', code] } },
        { executorType: 'cli', executorConfig: { isolation, baseCommand: `/usr/bin/python3 -I ${script}` } },
      ]
      for (const tool of tools) {
        const name = `attack_${tool.executorType}_${isolation}`
        const body = { name, displayName: name, description: 'Attacks.', inputSchema: { type: 'object' }, ...tool }
        const made = await server.request('POST', '/tools', { body })
        expect(made.status, made.text).toBe(201)
        expect((await server.request('POST', `/tools/${name}/activate`)).status).toBe(200)
        const answer = await call(name, {})
        expect(answer, name).toMatchObject({ success: true })
        expect(foundBy(answer.result), name).toBe('')
      }
    })
  }
})

describe('a tool of a config on a server', () => {
  it('names the flag that allows a folder or writing to it', async () => {
    const read = await call('plain_run', { file: join(folder as string, 'elsewhere', 'x.py') })
    expect(read.error.message ?? read.error).toContain(`--allow-folder ${join(folder as string, 'elsewhere')}`)
    const write = await call('plain_code', { code: `open('${join(folder as string, 'shown', 'new')}', 'w')` })
    expect(JSON.stringify(write.error)).toContain(':rw')
  })

  it('reveals nothing about files of the machine outside of the allowed folders', async () => {
    const elsewhere = [home as string, join(home as string, 'private.txt'), join(home as string, 'private.txt', 'x')]
    const missing = join(home as string, 'missing')
    const messageOf = async (name: string, args: Record<string, unknown>) =>
      JSON.stringify((await call(name, args)).error)
    const withoutPaths = async (name: string, args: Record<string, unknown>) =>
      (await messageOf(name, args)).replaceAll(/\/[^\s'",]*/g, 'PATH')
    const program = async (path: string) => {
      const body = draft('starts', { executorType: 'shell', executorConfig: { command: [path] } })
      expect((await server.request('POST', '/tools', { body })).status).toBe(201)
      expect((await server.request('POST', '/tools/starts/activate')).status).toBe(200)
      const error = await withoutPaths('starts', {})
      await server.request('DELETE', '/tools/starts')
      return error
    }
    const tries = {
      'a program': program,
      'a working folder': (path: string) => withoutPaths('plain_list', { folder: path }),
      'a path below a root': (path: string) => withoutPaths('plain_list', { below: path }),
    }
    for (const [name, tried] of Object.entries(tries))
      for (const path of elsewhere) expect(await tried(path), `${name}: ${path}`).toBe(await tried(missing))
    expect(await messageOf('plain_list', { folder: '~' })).not.toContain(homedir())
    expect(await messageOf('plain_list', { folder: join(folder as string, 'shown', 'no') })).toContain('does not exist')
  })

  it('shows level, folders and network in a dry run', async () => {
    const options = { body: { input: { file: script }, dryRun: true } }
    const { body } = await server.request('POST', '/tools/plain_run/execute', options)
    expect(body.plan).toMatchObject({
      isolation: 'isolated',
      folders: [`${join(folder as string, 'shown')}:ro`],
      network: true,
    })
  })
})

/** A tool for each part of the host, with where it asks for it. */
const asking = (): readonly (readonly [grant: string, pointer: string, tool: Record<string, unknown>])[] => {
  const inner = '/executorConfig'
  const [cli, shell] = [{ executorType: 'cli' }, { executorType: 'shell' }]
  const python = { executorType: 'python', scriptContent: 'def main(given): return 1\n' }
  const http = { executorType: 'http', executorConfig: { method: 'GET', url: 'https://example.com/' } }
  const rooted = {
    ...cli,
    inputSchema: { type: 'object', properties: { file: { type: 'string' } } },
    executorConfig: { baseCommand: 'ls', args: [{ name: 'file', type: 'path', root: '/', positional: true }] },
  }
  return [
    ['host', `${inner}/isolation`, { ...cli, executorConfig: { baseCommand: 'id', isolation: 'limited' } }],
    ['host', `${inner}/isolation`, { ...shell, executorConfig: { command: ['id'], isolation: 'confined' } }],
    [
      'folders',
      `${inner}/cwd`,
      { ...shell, executorConfig: { command: ['ls'], cwd: join(folder as string, 'shown') } },
    ],
    ['network', `${inner}/network`, { ...shell, executorConfig: { command: ['id'], network: true } }],
    [
      'env',
      `${inner}/env/TOKEN`,
      { ...shell, executorConfig: { command: ['env'], env: { TOKEN: 'env:OTHER_TOKEN' } } },
    ],
    ['env', `${inner}/env`, { ...cli, executorConfig: { baseCommand: 'env', env: { TOKEN: '$' + '{OTHER_TOKEN}' } } }],
    ['env', `${inner}/baseCommand`, { ...cli, executorConfig: { baseCommand: 'echo $OTHER_TOKEN' } }],
    [
      'files',
      `${inner}/env/KEY`,
      { ...shell, executorConfig: { command: ['env'], env: { KEY: 'file:/etc/hostname' } } },
    ],
    ['private', `${inner}/allowPrivate`, { ...http, executorConfig: { ...http.executorConfig, allowPrivate: true } }],
    ['folders', `${inner}/args/0/root`, rooted],
    ['packages', `${inner}/environment`, { ...python, executorConfig: { environment: 'shared', worker: 'elsewhere' } }],
    ['packages', `${inner}/dependencies`, { ...python, executorConfig: { dependencies: ['x'], worker: 'elsewhere' } }],
    ['mcp', '/executorType', { executorType: 'mcp', executorConfig: { server: 'notes', tool: 'add' } }],
  ]
}

const draft = (name: string, tool: Record<string, unknown>) => ({
  name,
  displayName: name,
  description: 'Asks for a part of the host.',
  inputSchema: { type: 'object' },
  ...tool,
})

const keyOf = async (workspace: string): Promise<string> => {
  const made = await server.request('POST', '/keys', { body: { name: 'admin', scopes: ['admin'], workspace } })
  expect(made.status, made.text).toBe(201)
  return made.body.secret
}

describe('the admin of another workspace', () => {
  let [granted, ungranted]: string[] = []

  it('is refused each part of the host when it registers, changes, imports or validates a tool', async () => {
    granted = await keyOf('other')
    ungranted = await keyOf('third')
    const base = draft('base', { executorType: 'shell', executorConfig: { command: ['id'] } })
    expect((await server.request('POST', '/tools', { body: base, key: ungranted })).status).toBe(201)
    for (const [grant, pointer, tool] of asking().filter(([name]) => name !== 'network')) {
      const body = draft('asks', tool)
      const refused = [
        await server.request('POST', '/tools', { body, key: ungranted }),
        await server.request('PATCH', '/tools/base', { body: tool, key: ungranted }),
        await server.request('POST', '/tools/base/proposals', { body: { change: tool }, key: ungranted }),
        await server.request('POST', '/bundle', { body: { bundle: { tooldex: 1, tools: [body] } }, key: ungranted }),
      ]
      for (const answer of refused) {
        expect(answer.status, answer.text).toBe(422)
        expect(answer.text).toContain(`--grant third=${grant}`)
      }
      expect(refused[0]?.body.errors.map((error: { pointer: string }) => error.pointer)).toContain(pointer)
    }
  })

  it('sees the level of its tools in search and describe', async () => {
    const key = ungranted as string
    expect((await server.request('POST', '/tools/base/activate', { key })).status).toBe(200)
    const search = async () =>
      (await server.request('POST', '/search', { body: { query: 'base' }, key })).body.results?.[0]
    await expect.poll(search).toMatchObject({ name: 'base', isolation: 'isolated' })
    const doc = await server.request('POST', '/describe', { body: { ids: ['base'], level: 'summary' }, key })
    expect(doc.body.tools[0].isolation).toBe('isolated')
  })

  it('has what it was granted, and runs isolated what asks for nothing', async () => {
    const names = []
    for (const [index, [, , tool]] of asking().entries()) {
      const made = await server.request('POST', '/tools', {
        body: draft(`asks_${index}`, tool),
        key: granted as string,
      })
      // The server that it names is not defined; that is all there is against it.
      if (tool.executorType === 'mcp') expect(made.text).not.toContain('--grant')
      else expect(made.status, made.text).toBe(201)
      if (made.status === 201) names.push(`asks_${index}`)
    }
    for (const name of names)
      expect((await server.request('POST', `/tools/${name}/activate`, { key: granted as string })).status).toBe(200)
    const plain = draft('plain', { executorType: 'cli', executorConfig: { baseCommand: 'id' } })
    for (const key of [granted, ungranted] as string[]) {
      expect((await server.request('POST', '/tools', { body: plain, key })).status).toBe(201)
      expect((await server.request('POST', '/tools/plain/activate', { key })).status).toBe(200)
    }
    const run = async (key: string) =>
      (await server.request('POST', '/tools/plain/execute', { body: { input: {}, wait: true }, key })).body
    expect(await run(ungranted as string)).toMatchObject({ status: 'SUCCESS', isolation: 'isolated' })
    const limited = { body: { input: {}, wait: true }, key: granted as string }
    expect((await server.request('POST', '/tools/asks_0/execute', limited)).body.isolation).toBe('limited')
  })

  it('is refused at run, of old versions too, when the operator takes the grants back', async () => {
    const key = granted as string
    const change = { executorType: 'cli', executorConfig: { baseCommand: 'id' }, inputSchema: { type: 'object' } }
    const changed = await server.request('PATCH', '/tools/asks_0', { body: change, key })
    expect(changed.status, changed.text).toBe(200)
    await server.stop()
    server = await startServer({
      home: home as string,
      env: { ...attackedSecrets, TOOLDEX_SHIELD: 'off' },
      words: served(),
    })
    const run = (name: string, more = {}) =>
      server.request('POST', `/tools/${name}/execute`, { body: { input: {}, wait: true, ...more }, key })
    expect((await run('asks_0')).body).toMatchObject({ status: 'SUCCESS', isolation: 'isolated' })
    for (const [index, [grant]] of asking().slice(0, -1).entries()) {
      const pinned = index === 0 ? { version: 1 } : {}
      for (const more of [pinned, { ...pinned, dryRun: true }, { ...pinned, wait: false }]) {
        const answer = await run(`asks_${index}`, more)
        expect(answer.status, answer.text).toBe(403)
        expect(answer.text).toContain(`--grant other=${grant}`)
      }
    }
    const back = await server.request('POST', '/tools/asks_0/rollback', { body: { version: 1 }, key })
    expect(back.status, back.text).toBe(422)
    expect(back.text).toContain('--grant other=host')
  })

  itAsRoot('would have read the server without the shield, so the attack is one', async () => {
    writeFileSync(script as string, attackScript(server.pid, home as string))
    const answer = await call('bare_run', { file: script })
    expect(foundBy(answer.result)).toMatch(/TOOLDEX_SECRET_KEY.*file.*memory.*planted/)
  })
})
