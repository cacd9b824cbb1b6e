import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { toolOf } from '../../src/executors/executor.suite.ts'
import { createShellExecutor, Sandbox } from '../../src/executors/index.ts'
import { needs } from '../support/needs.ts'
import { expectProblem } from '../support/rest.ts'
import { projectRoot } from '../support/run-cli.ts'
import { type SharedPostgres, sharedPostgres } from '../support/start-postgres.ts'
import { startServer, type TestServer } from '../support/start-server.ts'
import { startWorker, type TestWorker } from '../support/start-worker.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { countDescendants, peakDuring, residentBytes, uniqueSeconds } from './processes.ts'

const { levels } = new Sandbox({ env: process.env })
const itIsolated = needs('made' in (await levels.isolated.run()), 'needs bubblewrap and user namespaces')
const itConfined = needs('made' in (await levels.confined.run()), 'needs Landlock of Linux 6.12')

const secrets = {
  TOOLDEX_SECRET_KEY: 'own-secret-key-value',
  UNRELATED: 'unrelated-value',
  API_TOKEN: 'caller-token-value',
}

let postgres: SharedPostgres
let server: TestServer
/** A server that runs no tool itself, and its worker. */
let queueing: TestServer
let worker: TestWorker

beforeAll(async () => {
  postgres = await sharedPostgres()
  const database = await postgres.createDatabase()
  server = await startServer({
    limitedBecause: 'a server without a sandbox is the subject',
    database: await postgres.createDatabase(),
    env: secrets,
    words: ['--allow-limited'],
  })
  queueing = await startServer({
    limitedBecause: 'a server without a sandbox is the subject',
    database,
    env: secrets,
    words: ['--no-worker', '--allow-limited'],
  })
  worker = await startWorker({
    limitedBecause: 'a server without a sandbox is the subject',
    database,
    env: { ...secrets, TOOLDEX_ALLOW_LIMITED: '1' },
  })
})

afterAll(async () => {
  await worker?.stop()
  await server?.stop()
  await queueing?.stop()
  await postgres?.stop()
})

let made = 0

/** Registers a tool and makes it callable; gives its name. */
async function register(body: Record<string, unknown>, at = server): Promise<string> {
  const name = `tool_${++made}`
  const tool = { name, displayName: name, description: 'Does one thing.', inputSchema: { type: 'object' }, ...body }
  for (const each of at === server ? [server, queueing] : [at]) {
    const answer = await each.request('POST', '/tools', { body: tool })
    expect(answer.status, answer.text).toBe(201)
    expect((await each.request('POST', `/tools/${name}/activate`)).status).toBe(200)
  }
  return name
}

const python = (scriptContent: string, executorConfig: object = {}) =>
  register({ executorType: 'python', scriptContent, executorConfig })
const shell = (executorConfig: object, names: readonly string[] = []) => {
  const inputSchema = { type: 'object', properties: Object.fromEntries(names.map((name) => [name, {}])) }
  return register({ executorType: 'shell', executorConfig, inputSchema })
}
const call = async (name: string, input: object = {}, at = server) =>
  (await at.request('POST', `/tools/${name}/execute`, { body: { input, wait: true } })).body
/** By way of the queue, so that the worker runs it. */
const callQueued = (name: string, input: object = {}) => call(name, input, queueing)

describe('fault 61: fork bombs through a server', () => {
  const bomb =
    'import os, time\nwhile True:\n    try:\n        os.fork()\n    except OSError:\n        time.sleep(3)\n        raise\n'
  const limits = { processes: 32 }
  const kinds = {
    python: (mark: string, isolation: string) =>
      python(`# ${mark}\ndef main(given):\n${bomb.replaceAll(/^/gm, '    ').trimEnd()}\n`, { limits, isolation }),
    shell: (mark: string, isolation: string) =>
      shell({ command: ['python3', '-c', `# ${mark}\n${bomb}`], limits, isolation }),
  }
  const cases = Object.entries(kinds).flatMap(([kind, make]) => [
    { kind, make, level: 'isolated', when: itIsolated },
    { kind, make, level: 'confined', when: itConfined },
  ])
  for (const { kind, make, level, when } of cases) {
    when(`fault 61 (${kind}, ${level}): is capped and fails; the machine stays usable`, async () => {
      const name = await make(uniqueSeconds(), level)
      const [ended, peak] = await peakDuring(countOwn, () => call(name))
      expect([ended.status, ended.isolation], JSON.stringify(ended)).toEqual(['FAILED', level])
      expect(`${ended.errorMessage}${ended.logs.stderr}`).toContain('Resource temporarily unavailable')
      expect(peak).toBeGreaterThan(10)
      expect(peak).toBeLessThanOrEqual(32 + 3 + waiting)
      await expect.poll(countOwn).toBeLessThanOrEqual(waiting)
      expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
    })
  }
})

/** The processes of the call, and of the four interpreters that may wait for the next: three each. */
const countOwn = (): number => countDescendants(server.pid)
const waiting = 4 * 3

describe('fault 63: much input to a program that does not read', () => {
  itIsolated('fault 63 (shell): a value that nobody reads breaks nothing', async () => {
    const name = await shell({ command: ['true'], stdin: 'text' }, ['text'])
    const before = residentBytes(server.pid)
    const ended = await call(name, { text: 'x'.repeat(900_000) })
    expect([ended.status, ended.errorCode]).toEqual(['SUCCESS', null])
    expect(residentBytes(server.pid) - before).toBeLessThan(200 * 1024 * 1024)
  })

  itIsolated(
    'fault 63 (python): a script whose arguments are long, and which ends before it looks at them',
    async () => {
      const name = await python('import os\nos._exit(0)\ndef main(given): pass\n')
      const ended = await call(name, { text: 'x'.repeat(900_000) })
      expect([ended.status, ended.errorCode]).toEqual(['FAILED', 'EXECUTION_FAILED'])
    },
  )

  for (const isolation of ['isolated', 'confined', 'limited'] as const) {
    itIsolated(`fault 63 (shell, ${isolation}): 200 MB that a program never reads break nothing`, async () => {
      const sandbox = new Sandbox({ env: process.env, allowLimited: true })
      const executor = createShellExecutor({ sandbox, env: process.env })
      const executorConfig = { command: ['sh', '-c', 'exit 3'], stdin: 'text', isolation }
      const job = { tool: toolOf('shell', { executorConfig }), input: { text: 'x'.repeat(200 * 1024 * 1024) } }
      const { status, result } = await executor.prepare(job).run({})
      expect([status, result.exitCode]).toEqual(['FAILED', 3])
    })
  }

  it('fault 63: 200 MB are refused before they are read', async () => {
    const name = await shell({ command: ['true'], stdin: 'text' }, ['text'])
    const raw = `{"wait":true,"input":{"text":"${'x'.repeat(200 * 1024 * 1024)}"}}`
    const answer = await server.request('POST', `/tools/${name}/execute`, { raw }).catch((error: Error) => error)
    // The server may hang up before all was sent.
    if (!(answer instanceof Error)) expectProblem(answer, 413, 'TOO_LARGE')
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
  })
})

describe('fault 65b: values that look like something else', () => {
  const words = [
    '-',
    '@/etc/passwd',
    '',
    'two\nlines',
    '$(id)',
    ';id',
    '*',
    '`id`',
    '${HOME}',
    '"quoted"',
    "it's",
    '\\n',
    'é😀',
  ]
  for (const isolation of ['isolated', 'confined', 'limited']) {
    itIsolated(`fault 65b (shell, ${isolation}): arrive as exactly one word each`, async () => {
      const print = 'import json, sys; print(json.dumps(sys.argv[1:]))'
      const command = ['python3', '-c', print, ...words.map((_, index) => `{{v${index}}}`)]
      const name = await shell(
        { command, isolation },
        words.map((_, index) => `v${index}`),
      )
      const ended = await call(name, Object.fromEntries(words.map((word, index) => [`v${index}`, word])))
      expect([ended.status, ended.isolation]).toEqual(['SUCCESS', isolation])
      expect(JSON.parse(ended.outputData)).toEqual(words)
    })
  }

  it('fault 65b (shell): a leading dash is refused, unless a separator or the config allows it', async () => {
    const name = await shell({ command: ['echo', '{{word}}'] }, ['word'])
    for (const word of ['-rf', '--output=x', '--']) {
      const ended = await call(name, { word })
      expect([ended.status, ended.errorCode]).toEqual(['FAILED', 'INPUT_INVALID'])
      expect(ended.errorMessage).toContain('starts with a dash')
    }
    const separated = await shell({ command: ['printf', '--', '{{word}}'] }, ['word'])
    expect((await call(separated, { word: '-rf' })).outputData).toBe('-rf')
    const declared = await shell({ command: ['expr', '{{number}}', '+', '1'], dashes: ['number'] }, ['number'])
    expect((await call(declared, { number: -5 })).outputData).toBe('-4\n')
  })

  itIsolated('fault 65b (python): arguments are data, whatever is in them', async () => {
    const name = await python('def main(given): return given\n')
    const input = { words, __class__: '$(id)', "'''": '"""', 'a b': { deep: [1, null, true, 1.5] } }
    expect((await call(name, input)).outputData).toEqual(input)
  })
})

describe('fault 65c: paths that lead elsewhere', () => {
  itIsolated('fault 65c (shell, isolated): there is nothing of the machine to lead to', async () => {
    const name = await shell({ command: ['cat', '--', '{{path}}'] }, ['path'])
    for (const path of ['../../../etc/passwd', '/etc/passwd', '/root/.ssh/id_rsa', '/proc/1/environ']) {
      const ended = await call(name, { path })
      expect([path, ended.status === 'FAILED' || ended.outputData === '']).toEqual([path, true])
    }
  })

  it('fault 65c (shell, limited): a parameter with a root is refused outside it, links followed', async () => {
    const root = join(tempFolder(), 'root')
    mkdirSync(root)
    writeFileSync(join(root, 'inside.txt'), 'inside')
    writeFileSync(join(root, '..', 'outside.txt'), 'outside')
    symlinkSync(join(root, '..', 'outside.txt'), join(root, 'link'))
    const name = await shell({ command: ['cat', '--', '{{path}}'], paths: { path: root }, isolation: 'limited' }, [
      'path',
    ])
    expect((await call(name, { path: 'inside.txt' })).outputData).toBe('inside')
    expect((await call(name, { path: join(root, 'inside.txt') })).outputData).toBe('inside')
    for (const path of [
      '../outside.txt',
      join(root, '..', 'outside.txt'),
      'link',
      '/proc/self/environ',
      '/etc/passwd',
    ]) {
      const ended = await call(name, { path })
      expect([path, ended.status, ended.errorCode]).toEqual([path, 'FAILED', 'INPUT_INVALID'])
    }
    expect((await call(name, { path: 'a\0b' })).code ?? 'refused').toBeTruthy()
  })

  itIsolated('fault 65c (shell, isolated): a folder must be let in by an admin, and is read-only', async () => {
    const folder = tempFolder()
    chmodSync(folder, 0o755)
    writeFileSync(join(folder, 'data.txt'), 'let in')
    const config = { command: ['cat', '--', '{{path}}'], paths: { path: folder } }
    const refused = await call(await shell(config, ['path']), { path: 'data.txt' })
    expect([refused.status, refused.errorCode]).toEqual(['FAILED', 'POLICY_REFUSED'])
    const open = await startServer({
      limitedBecause: 'a server without a sandbox is the subject',
      database: await postgres.createDatabase(),
      words: ['--allow-folder', folder],
    })
    try {
      const inputSchema = { type: 'object', properties: { path: {} } }
      const reads = await register({ executorType: 'shell', executorConfig: config, inputSchema }, open)
      expect((await call(reads, { path: 'data.txt' }, open)).outputData).toBe('let in')
      const write = { command: ['touch', join(folder, 'new')], cwd: folder }
      const writes = await register({ executorType: 'shell', executorConfig: write }, open)
      expect((await call(writes, {}, open)).logs.stderr).toContain('Read-only file system')
    } finally {
      await open.stop()
    }
  })
})

describe('fault 65d: what tools see of the environment, under serve and worker', () => {
  const look = `
import glob, os
def main(given):
    seen = dict(os.environ)
    for path in glob.glob('/proc/[0-9]*/environ'):
        try:
            seen[path] = open(path, 'rb').read().decode('latin1')
        except OSError:
            pass
    return seen
`
  const own = () => ['own-secret-key-value', 'unrelated-value', 'caller-token-value', 'postgres://', server.key]

  for (const [where, run] of [
    ['serve', call],
    ['worker', callQueued],
  ] as const) {
    itIsolated(`fault 65d (python, ${where}): only what is declared, in /proc too`, async () => {
      const ended = await run(await python(look, { env: { GREETING: 'hello' } }))
      expect(ended.status, JSON.stringify(ended)).toBe('SUCCESS')
      expect(ended.outputData.GREETING).toBe('hello')
      const text = JSON.stringify(ended)
      for (const secret of own()) expect(text).not.toContain(secret)
    })

    itConfined(`fault 65d (python, ${where}, confined): only what is declared`, async () => {
      const ended = await run(await python(look, { env: { GREETING: 'hello' }, isolation: 'confined' }))
      expect([ended.status, ended.isolation], JSON.stringify(ended)).toEqual(['SUCCESS', 'confined'])
      expect(
        Object.keys(ended.outputData)
          .filter((name) => !/^(LC_CTYPE|TRACEPARENT)$/.test(name))
          .sort(),
      ).toEqual(['GREETING', 'HOME', 'TMPDIR'])
      for (const secret of own()) expect(JSON.stringify(ended)).not.toContain(secret)
    })

    itIsolated(`fault 65d (shell, ${where}): only what is declared, in /proc too`, async () => {
      const command = ['sh', '-c', 'env | sort; cat /proc/*/environ 2>/dev/null | tr "\\0" "\\n" | sort -u']
      const ended = await run(await shell({ command, env: { GREETING: 'hello' } }))
      const names = new Set(
        String(ended.outputData)
          .split('\n')
          .filter(Boolean)
          .map((line) => line.split('=')[0]),
      )
      expect([...names].sort()).toEqual(
        ['GREETING', 'HOME', 'PATH', 'PWD', 'TRACEPARENT'].filter((name) => names.has(name)),
      )
      for (const secret of own()) expect(JSON.stringify(ended)).not.toContain(secret)
    })

    itIsolated(`fault 65d (${where}): a secret that a tool is given and prints is not shown`, async () => {
      const script =
        'import os, sys\ndef main(given):\n    print(os.environ["KEY"])\n    print(os.environ["KEY"], file=sys.stderr)\n    return {os.environ["KEY"]: [os.environ["KEY"]]}\n'
      const ended = await run(await python(script, { env: { KEY: 'env:API_TOKEN' } }))
      expect(ended.status, JSON.stringify(ended)).toBe('SUCCESS')
      expect(ended.logs.stdout).toContain('[redacted env:API_TOKEN]')
      expect(JSON.stringify(ended)).not.toContain('caller-token-value')
    })
  }

  it('fault 65d: nothing of it is in the log of either', () => {
    for (const log of [server.stderr(), worker.stderr()]) expect(log).not.toContain('caller-token-value')
  })
})

describe('fault 132: a server without a sandbox', () => {
  const scripts = { executorType: 'python', scriptContent: 'def main(given): return 1\n', executorConfig: {} }
  const commands = { executorType: 'shell', executorConfig: { command: ['true'] } }
  const withoutBubblewrap = () => {
    const folder = tempFolder()
    for (const program of ['prlimit', 'python3', 'sh', 'cat']) symlinkSync(`/usr/bin/${program}`, join(folder, program))
    return { PATH: folder }
  }
  const withoutLandlock = ['/usr/bin/python3', join(projectRoot, 'tests/faults/without-call.py'), '444']

  it('fault 132: rejects scripts and commands, names what to install, and records it', async () => {
    const database = await postgres.createDatabase()
    const bare = await startServer({
      limitedBecause: 'a server without a sandbox is the subject',
      database,
      env: withoutBubblewrap(),
      before: withoutLandlock,
    })
    try {
      for (const body of [scripts, commands]) {
        const ended = await call(await register(body, bare), {}, bare)
        expect([ended.status, ended.errorCode, ended.isolation]).toEqual(['FAILED', 'SANDBOX_MISSING', 'none'])
        expect(ended.errorMessage).toContain('apt-get install bubblewrap')
        expect(ended.errorMessage).toContain('Landlock')
      }
      await expect.poll(bare.stderr).toContain('Scripts and commands are rejected')
    } finally {
      await bare.stop()
    }
  })

  itConfined('fault 132: confines where it cannot isolate, logs it at start, and records it', async () => {
    const second = await startServer({
      limitedBecause: 'a server without a sandbox is the subject',
      database: await postgres.createDatabase(),
      env: withoutBubblewrap(),
    })
    try {
      expect(second.stderr()).not.toContain('Tools run isolated')
      await expect.poll(() => second.stderr()).toContain('Tools run confined, not isolated')
      for (const body of [scripts, commands]) {
        const name = await register(body, second)
        const planned = await second.request('POST', `/tools/${name}/execute`, { body: { input: {}, dryRun: true } })
        expect(planned.text).toContain('"isolation":"confined"')
        const ended = await call(name, {}, second)
        expect([ended.status, ended.isolation], JSON.stringify(ended)).toEqual(['SUCCESS', 'confined'])
        const recorded = await second.request('GET', `/executions/${ended.id}`)
        expect(recorded.body.isolation).toBe('confined')
      }
      const strict = await register({ ...scripts, executorConfig: { isolation: 'isolated' } }, second)
      expect((await call(strict, {}, second)).errorCode).toBe('SANDBOX_MISSING')
    } finally {
      await second.stop()
    }
  })
})
