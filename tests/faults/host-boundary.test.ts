import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startServer, type TestServer } from '../support/start-server.ts'

const secrets = {
  TOOLDEX_API_KEY: 'own-api-key-0123456789abcdef',
  TOOLDEX_SECRET_KEY: 'own-secret-key-0123456789abcdef',
  TOOLDEX_EMBEDDINGS_KEY: 'own-embeddings-key-0123456789',
  OTHER_TOKEN: 'token-of-another-tool-0123456789',
}
const hiddenFile = 'content-of-a-file-of-the-server'

/** All that an attacker would look at, in base64, so that no redaction sees it. */
const attack = (pid: number, home: string): string => `
import base64, os
seen = b''
try:
    pids = [name for name in os.listdir('/proc') if name.isdigit()]
except OSError:
    pids = []
for pid in pids:
    try:
        seen += open('/proc/' + pid + '/environ', 'rb').read()
    except OSError:
        pass
for path in ['/proc/${pid}/environ', '/proc/${pid}/root${home}/private.txt'] + ['${home}/' + n for n in ('private.txt', 'server.json', 'db/PG_VERSION')]:
    try:
        seen += open(path, 'rb').read()
    except OSError:
        pass
try:
    maps = open('/proc/${pid}/maps').read().splitlines()
    with open('/proc/${pid}/mem', 'rb', 0) as memory:
        for line in maps:
            if ' rw-p ' not in line or len(seen) > 30000000:
                continue
            start, end = (int(part, 16) for part in line.split()[0].split('-'))
            try:
                memory.seek(start)
                seen += memory.read(min(end - start, 8000000))
                seen += b'MEMORY'
            except (OSError, ValueError):
                pass
except OSError:
    pass
try:
    open('${home}/planted', 'w').close()
    seen += b'PLANTED'
except OSError:
    pass
wanted = [${Object.values(secrets)
  .map((secret) => `b'${secret}'`)
  .join(', ')}, b'${hiddenFile}', b'MEMORY', b'PLANTED', b'pid":']
found = [name for name in wanted if name in seen]
print('found:' + base64.b64encode(b' '.join(found)).decode())
`

const foundBy = (output: unknown): string =>
  Buffer.from(/found:(\S*)/.exec(String(output))?.[1] ?? 'bm90IHJ1bg==', 'base64').toString()

let [folder, home, script]: string[] = []
let server: TestServer

beforeAll(async () => {
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
      ].join('\n'),
    )
  server = await startServer({
    home,
    env: { ...secrets, TOOLDEX_LIMITED: undefined, TOOLDEX_SHIELD: undefined },
    words: [
      join(folder, 'plain.yaml'),
      join(folder, 'bare.yaml'),
      ...['--allow-folder', join(folder, 'shown'), '--limited', 'bare', '--allow-limited'],
    ],
  })
  writeFileSync(script, attack(server.pid, home))
})

afterAll(async () => {
  await server?.stop()
  rmSync(folder as string, { recursive: true, force: true })
})

const call = async (name: string, args: Record<string, unknown>, key?: string) => {
  const options = { body: { arguments: args }, ...(key === undefined ? {} : { key }) }
  return (await server.request('POST', `/llm/tools/${name}/invoke`, options)).body
}

describe('what a tool can read of its server', () => {
  it('shows nothing of its environment in the process table', () => {
    expect(readFileSync(`/proc/${server.pid}/environ`).some((byte) => byte !== 0)).toBe(false)
    // The attack itself works: the same look at a process that hides nothing finds it.
    expect(attack(server.pid, home as string)).toContain(`/proc/${server.pid}/mem`)
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
      expect(foundBy(JSON.stringify(answer.result)), name).toBe('')
    }
  })

  it.each(['isolated', 'confined', 'limited'])('nothing from registered tools: %s', async (isolation) => {
    const code = attack(server.pid, home as string)
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
      expect(foundBy(JSON.stringify(answer.result)), name).toBe('')
    }
  })
})

describe('a tool of a config on a server', () => {
  it('names the flag that allows a folder, writing or the network', async () => {
    const read = await call('plain_run', { file: join(folder as string, 'elsewhere', 'x.py') })
    expect(read.error.message ?? read.error).toContain(`--allow-folder ${join(folder as string, 'elsewhere')}`)
    const write = await call('plain_code', { code: `open('${join(folder as string, 'shown', 'new')}', 'w')` })
    expect(JSON.stringify(write.error)).toContain(':rw')
    const net = await call('plain_code', { code: "import socket; socket.create_connection(('192.0.2.1', 80), 5)" })
    expect(JSON.stringify(net.error)).toContain('--allow-network')
  })

  it('shows level, folders and network in a dry run', async () => {
    const options = { body: { input: { file: script }, dryRun: true } }
    const { body } = await server.request('POST', '/tools/plain_run/execute', options)
    expect(body.plan).toMatchObject({
      isolation: 'isolated',
      folders: [`${join(folder as string, 'shown')}:ro`],
      network: false,
    })
  })
})
