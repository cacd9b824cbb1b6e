import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { needs, needsLevel } from '../../../tests/support/needs.ts'
import { describeExecutor, toolOf } from '../executor.suite.ts'
import { Sandbox } from '../sandbox/sandbox.ts'
import { checkPythonConfig } from './check-python-script.ts'
import { Environments } from './environments.ts'
import { environmentNameOf } from './packages.ts'
import { createPythonExecutor } from './python-executor.ts'

const home = mkdtempSync(join(tmpdir(), 'tooldex-python-'))
chmodSync(home, 0o755)
afterAll(() => rmSync(home, { recursive: true, force: true }))

const sandbox = new Sandbox({ env: process.env, allowLimited: true })
const environments = new Environments(join(home, 'envs'))
const create = (warm = 0) => createPythonExecutor({ sandbox, env: process.env, environments, warm })
const warmed = create(2)
afterAll(() => warmed.close?.())

for (const [name, executor, isolation] of [
  ['python, isolated', create(), 'isolated'],
  ['python, isolated and warm', warmed, 'isolated'],
  ['python, confined', create(), 'confined'],
  ['python, limited', create(), 'limited'],
] as const) {
  const tool = (scriptContent: string, more = {}) => ({ scriptContent, executorConfig: { isolation, ...more } })
  const when = await needsLevel(isolation)
  describeExecutor(name, () => ({
    executor,
    isolation,
    when,
    echo: tool('def main(given):\n    print("a log")\n    return given["text"]\n'),
    fail: tool('def main(given):\n    raise RuntimeError("it went wrong")\n'),
    wait: tool('import time\ndef main(given):\n    print("started")\n    time.sleep(60)\n'),
    flood: tool('def main(given):\n    while True:\n        print("x" * 10_000)\n'),
    greet: tool('import os\ndef main(given):\n    return os.environ["GREETING"]\n', {
      env: { GREETING: 'secret:greeting' },
    }),
  }))
}

const executor = create()
const sandboxed = needs((await sandbox.levels.best()).level !== undefined, 'needs a sandbox')
const whenLevel = { isolated: await needsLevel('isolated'), confined: await needsLevel('confined') }
const run = (script: string, config = {}, input = {}) =>
  executor.prepare({ tool: toolOf('python', { scriptContent: script, executorConfig: config }), input }).run({})

describe('python executor', () => {
  it('keeps prints apart from the result, in order, whole characters', async () => {
    const { output, result } = await run(
      'import sys\nprint("first é")\ndef main(given):\n    print("second")\n    sys.stderr.write("warned\\n")\n    return {"sum": given["a"] + 1, "none": None}\n',
      {},
      { a: 41 },
    )
    expect([output, result.stdout, result.stderr]).toEqual([{ sum: 42, none: null }, 'first é\nsecond\n', 'warned\n'])
  })

  it.each([
    [
      'def main(given):\n    x = 1\n    raise ValueError("bad zone")\n',
      'ValueError: bad zone (line 3 in main: raise ValueError("bad zone"))',
    ],
    [
      'def main(given):\n    import json\n    json.loads("{")\n',
      /^JSONDecodeError: .* \(line 3 in main: json.loads\("\{"\)\)$/,
    ],
    ['x = 1 / 0\ndef main(given): pass\n', 'ZeroDivisionError: division by zero (line 1: x = 1 / 0)'],
    ['def main(given)\n    pass\n', /^SyntaxError: expected ':' \(line 1: def main\(given\)\)$/],
    ['def other(given): pass\n', /has no attribute 'main'/],
    [
      'def main(given):\n    return {1, 2}\n',
      'main returned a value that is not JSON: Object of type set is not JSON serializable',
    ],
    ['def main(given):\n    return float("nan")\n', /^main returned a value that is not JSON/],
    ['def main(given):\n    return 10 ** 400\n', /an integer beyond 9007199254740991 would lose precision in JSON/],
    [
      'def main(given):\n    return {"a": [1, {"id": 12345678901234567890}]}\n',
      /^main returned .*: an integer beyond .*; return it as a string$/,
    ],
    ['import sys\ndef main(given):\n    sys.exit("done")\n', 'SystemExit: done (line 3 in main: sys.exit("done"))'],
    ['import os\ndef main(given):\n    os._exit(3)\n', 'The script exited with code 3 before main returned'],
    [
      'class Odd(Exception):\n    def __str__(self): raise TypeError\ndef main(given):\n    raise Odd()\n',
      'Odd (line 4 in main: raise Odd())',
    ],
  ])('summarizes a failure in one line: %j', async (script, message) => {
    const { status, errorCode, errorMessage, output } = await run(script)
    expect([status, errorCode, output]).toEqual(['FAILED', 'EXECUTION_FAILED', null])
    if (typeof message === 'string') expect(errorMessage).toBe(message)
    else expect(errorMessage).toMatch(message)
    expect(errorMessage).not.toContain('<string>')
  })

  it('waits for a main that is a coroutine', async () => {
    const { output } = await run(
      'import asyncio\nasync def main(given):\n    await asyncio.sleep(0.01)\n    return "later"\n',
    )
    expect(output).toBe('later')
  })

  it('takes the result of the script only, not of what it forked', async () => {
    const script =
      'import os\ndef main(given):\n    child = os.fork()\n    if child:\n        os.waitpid(child, 0)\n    return "child" if child == 0 else "parent"\n'
    expect((await run(script)).output).toBe('parent')
  })

  it('refuses a result of more than 16 MiB', async () => {
    const { errorCode, errorMessage } = await run('def main(given):\n    return "x" * (17 << 20)\n')
    expect([errorCode, errorMessage]).toEqual(['OUTPUT_LIMIT', 'main returned more than 16 MiB'])
  })

  it('shows in a dry run the script, its hash, the interpreter, the environment and the isolation', async () => {
    const script = 'def main(given): return 1'
    const tool = toolOf('python', { scriptContent: script, executorConfig: { limits: { memoryMb: 64 } } })
    const plan = await executor.prepare({ tool, input: {} }).plan()
    const { level = 'limited' } = await sandbox.levels.best()
    expect(plan).toMatchObject({
      isolation: level,
      argv: ['/usr/bin/python3', '-I', '-S', '-B', 'script.py'],
      script: { sha256: createHash('sha256').update(script).digest('hex'), bytes: script.length, content: script },
      environment: null,
      network: false,
      limits: { memoryMb: 64, cpuSeconds: 60 },
    })
  })

  sandboxed('imports the packages of a named environment, which it cannot change, and records which', async () => {
    const packages = join(home, 'packages')
    mkdirSync(packages, { recursive: true })
    writeFileSync(join(packages, 'weather.py'), 'def zone(): return "Europe/Vienna"\n')
    environments.add('weather', packages)
    const script =
      'import weather\ndef main(given):\n    try:\n        open(weather.__file__, "w")\n    except OSError as error:\n        return [weather.zone(), error.errno]\n'
    const outcome = await run(script, { environment: 'weather' })
    // A read-only file system where it has one of its own, otherwise denied.
    expect(outcome.output).toEqual(['Europe/Vienna', outcome.isolation === 'isolated' ? 30 : 13])
    expect(outcome.environment).toMatch(/^weather@[0-9a-f]{12}$/)
    writeFileSync(join(packages, 'more.py'), '')
    expect((await run(script, { environment: 'weather' })).environment).not.toBe(outcome.environment)
    await expect(run(script, { environment: 'nowhere' })).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect((await run(script)).errorMessage).toContain("No module named 'weather'")
  })

  it('refuses limits beyond those of the admin, and the network that no admin allowed', async () => {
    const script = 'def main(given): return 1'
    await expect(run(script, { limits: { memoryMb: 100_000 } })).rejects.toMatchObject({
      code: 'POLICY_REFUSED',
      hint: expect.stringContaining('TOOLDEX_MAX_MEMORY_MB'),
    })
    await expect(run(script, { network: true })).rejects.toMatchObject({ code: 'POLICY_REFUSED' })
  })
})

/** Makes a wheel without pip or a network. */
function makeWheel(folder: string, name: string, version: string, source: string): void {
  const program = `
import sys, zipfile
folder, name, version, source = sys.argv[1:]
info = f"{name}-{version}.dist-info"
files = {
  f"{name}.py": source,
  f"{info}/METADATA": f"Metadata-Version: 2.1\\nName: {name}\\nVersion: {version}\\n",
  f"{info}/WHEEL": "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
}
with zipfile.ZipFile(f"{folder}/{name}-{version}-py3-none-any.whl", "w") as wheel:
  for path, text in files.items(): wheel.writestr(path, text)
  wheel.writestr(f"{info}/RECORD", "".join(f"{path},,\\n" for path in [*files, f"{info}/RECORD"]))
`
  mkdirSync(folder, { recursive: true })
  execFileSync('/usr/bin/env', ['python3', '-c', program, folder, name, version, source])
}

describe('a script that opens a file of the host', () => {
  for (const isolation of ['isolated', 'confined'] as const)
    whenLevel[isolation](`fails with the reason and another way: ${isolation}`, async () => {
      const open = async (path: string) => {
        const scriptContent = `def main(input):\n    return open(input["path"]).read()\n`
        const tool = toolOf('python', { scriptContent, executorConfig: { isolation } })
        return (await executor.prepare({ tool, input: { path } }).run({})).errorMessage
      }
      const reason = 'Scripts cannot see the folders of the host.'
      expect(await open(`${process.cwd()}/package.json`)).toContain(reason)
      expect(await open('absent.txt')).not.toContain(reason)
      expect(await open('/usr/absent')).not.toContain(reason)
    })
})

describe('packages that a tool lists', () => {
  const wheels = join(home, 'wheels')
  const folder = join(home, 'built')
  const env = { ...process.env, PIP_NO_INDEX: '1', PIP_FIND_LINKS: wheels, PIP_CONFIG_FILE: '/dev/null' }
  const built = new Environments(folder)
  const python = createPythonExecutor({ sandbox, env, environments: built })
  const script = 'import sundial\ndef main(given):\n    return sundial.zone()\n'
  const call = (dependencies: readonly string[]) =>
    python
      .prepare({ tool: toolOf('python', { scriptContent: script, executorConfig: { dependencies } }), input: {} })
      .run({})
  const check = (dependencies: readonly string[], prepare: boolean) =>
    python.check?.({ dependencies }, '/executorConfig', { prepare })

  it('are installed once when the tool is prepared, and shared by every spelling of the list', async () => {
    makeWheel(wheels, 'sundial', '1.2', 'def zone(): return "Europe/Vienna"\n')
    const tool = toolOf('python', { scriptContent: script, executorConfig: { dependencies: ['Sundial == 1.2'] } })
    expect(python.readiness(tool).state).toBe('needs-program')
    await expect(call(['Sundial == 1.2'])).rejects.toMatchObject({
      code: 'PACKAGES_MISSING',
      message: 'These packages are not installed on this host: sundial==1.2.',
      hint: "The operator of the host can install them: tooldex envs build 'sundial==1.2'",
    })
    expect(await check(['Sundial == 1.2'], false)).toMatchObject([
      { severity: 'warning', pointer: '/executorConfig/dependencies' },
    ])
    expect(await Promise.all([check(['Sundial == 1.2'], true), check(['sundial==1.2'], true)])).toEqual([[], []])
    expect(readdirSync(folder)).toEqual([environmentNameOf(['sundial==1.2'])])
    const outcome = await call(['sundial==1.2'])
    expect([outcome.output, outcome.environment]).toEqual([
      'Europe/Vienna',
      expect.stringMatching(/^deps-[0-9a-f]{16}@/),
    ])
    expect(python.readiness(tool).state).not.toBe('needs-program')
    expect(built.list()).toMatchObject([{ dependencies: ['sundial==1.2'] }])
    built.remove(environmentNameOf(['sundial==1.2']))
    expect(readdirSync(folder)).toEqual([])
  })

  it('are refused where pip cannot find them, with the way to install them offline', async () => {
    await expect(check(['no-such-package==9'], true)).rejects.toMatchObject({
      code: 'PACKAGES_MISSING',
      message: expect.stringContaining('No matching distribution found for no-such-package==9'),
      hint: expect.stringContaining("PIP_FIND_LINKS=FOLDER tooldex envs build 'no-such-package==9'"),
    })
    expect(readdirSync(folder)).toEqual([])
  })

  it('are refused with the network as the reason if the index cannot be reached', async () => {
    const closed = { ...process.env, PIP_INDEX_URL: 'http://127.0.0.1:1/simple', PIP_CONFIG_FILE: '/dev/null' }
    const offline = createPythonExecutor({ sandbox, env: closed, environments: built })
    const checked = offline.check?.({ dependencies: ['sundial==1.2'] }, '/executorConfig', { prepare: true })
    await expect(checked).rejects.toMatchObject({
      code: 'PACKAGES_MISSING',
      message: expect.stringContaining('the package index could not be reached'),
    })
  })

  it.each(['--index-url=http://evil', '-r/etc/passwd', './wheel.whl', 'x @ file:///x', 'git+https://x/y', 'x; y', ''])(
    'are names and versions only: %j',
    (text) => {
      const problems = checkPythonConfig({ dependencies: ['sundial', text] }, {}, '/executorConfig')
      expect(problems).toMatchObject([{ severity: 'error', pointer: '/executorConfig/dependencies/1' }])
    },
  )

  it('cannot be combined with a named environment, and are at most 50', () => {
    const pointers = (config: unknown) => checkPythonConfig(config, {}, '').map(({ pointer }) => pointer)
    expect(pointers({ environment: 'x', dependencies: ['y'] })).toEqual(['/dependencies'])
    expect(pointers({ dependencies: Array.from({ length: 51 }, (_, index) => `p${index}`) })).toEqual(['/dependencies'])
    expect(pointers({ dependencies: ['httpx[http2, socks] >= 0.27, < 1', 'zope.interface', 'a===1!2.0+x'] })).toEqual(
      [],
    )
  })
})
