import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { randomBytes, randomInt } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { RunOutcome } from '../../src/contract/run.ts'
import { toolOf } from '../../src/executors/executor.suite.ts'
import { createPythonExecutor, Environments, Sandbox } from '../../src/executors/index.ts'
import { detectContainment } from '../../src/executors/process/containment.ts'
import { PidsCgroup } from '../../src/executors/process/pids-cgroup.ts'
import { createProcessGroups } from '../../src/executors/process/process-group.ts'
import { seccompProgram } from '../../src/executors/sandbox/seccomp-program.ts'
import { needs } from '../support/needs.ts'
import { projectRoot } from '../support/run-cli.ts'
import { tempFile, tempFolder } from '../support/temp-folder.ts'
import { findProcesses, uniqueSeconds } from './processes.ts'
import { runNode } from './run-node.ts'
import { runTool } from './run-tool.ts'
import { attacks, isNothing, leftovers, notConfined, scriptOf, wasHeld } from './sandbox-attacks.ts'

const levels = ['isolated', 'confined', 'limited'] as const
type Level = (typeof levels)[number]

const sandbox = new Sandbox({ env: process.env, allowLimited: true })
const probed = await sandbox.levels.isolated.run()
const itIsolated = needs('made' in probed, 'needs bubblewrap and user namespaces')
const landlocked = 'made' in (await sandbox.levels.confined.run())
const itConfined = needs(landlocked, 'needs Landlock of Linux 6.12')
const isRoot = process.geteuid?.() === 0
const containment = detectContainment().kind
const counted = PidsCgroup.create(1, 1024 ** 2)
counted?.remove()
const executors = {
  cold: createPythonExecutor({ sandbox, env: process.env, environments: new Environments('/nowhere') }),
  warm: createPythonExecutor({ sandbox, env: process.env, environments: new Environments('/nowhere'), warm: 1 }),
}

/** What the scripts try to reach: all of it is ours. */
const mark = randomBytes(8).toString('hex')
const folder = join('/var/tmp', `tooldex-canary-${mark}`)
const shared = join('/var/tmp', `tooldex-shared-${mark}`)
const seconds = `36${uniqueSeconds()}`
let servers: Server[] = []
let victim: ChildProcess | undefined
let postbox: ChildProcess
let letters = ''
let given: Record<string, unknown>
let knocks = 0
const memoryKey = randomInt(1, 2 ** 30)

/** Services that take letters, open to everybody; says so when it is there, and when one came. */
const postboxScript = `
import os, select, socket, sys
boxes = []
for address in (sys.argv[1], '\\0' + sys.argv[2]):
    boxes.append(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
    boxes[-1].bind(address)
os.chmod(sys.argv[1], 0o777)
print('there', flush=True)
while True:
    for box in select.select(boxes, [], [])[0]:
        print(box.recv(100).decode(), flush=True)
`

beforeAll(async () => {
  writeFileSync(folder, 'canary')
  writeFileSync(shared, 'shared')
  chmodSync(shared, 0o666)
  spawnSync('/usr/bin/python3', ['-c', 'import os, sys; os.setxattr(sys.argv[1], "user.kept", b"x")', shared])
  const abstract = `tooldex-${mark}`
  const box = join('/var/tmp', `tooldex-${mark}.box`)
  postbox = spawn('/usr/bin/python3', ['-c', postboxScript, box, `${abstract}-letters`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  postbox.stdout?.setEncoding('latin1').on('data', (text: string) => {
    letters += text
  })
  await once(postbox.stdout as NonNullable<typeof postbox.stdout>, 'data')
  const socket = join('/var/tmp', `tooldex-${mark}.sock`)
  servers = [0, 1, 2, 3].map(() => createServer((line) => line.destroy()).on('connection', () => knocks++))
  const listen = (index: number, ...where: unknown[]) =>
    new Promise<void>((resolve, reject) => {
      servers[index]?.once('error', reject).listen(...(where as [number, string]), resolve)
    })
  await listen(0, 0, '127.0.0.1')
  await listen(1, 0, '::1').catch(() => {})
  await listen(2, `\0${abstract}`)
  await listen(3, socket)
  const portOf = (index: number) => (servers[index]?.address() as AddressInfo | null)?.port ?? 9
  const canaries = {
    canary: folder,
    shared,
    folder: '/var/tmp',
    name: `tooldex-${mark}`,
    mark: seconds,
  }
  const others = { machine: hostname(), server: process.pid, letters: box, key: memoryKey }
  given = { ...canaries, ...others, port: portOf(0), port6: portOf(1), abstract, socket }
})

/** A script at the level limited may end it. */
beforeEach(() => {
  if (victim?.exitCode === null && victim.signalCode === null) return
  victim = spawn('sleep', [seconds], { stdio: 'ignore' })
  given.pid = victim.pid
})

afterAll(async () => {
  victim?.kill('SIGKILL')
  postbox.kill('SIGKILL')
  spawnSync('ipcrm', ['-M', String(memoryKey)], { stdio: 'ignore' })
  for (const server of servers) await new Promise((resolve) => server.close(resolve))
  for (const place of ['/var/tmp', '/tmp', '/dev/shm']) rmSync(join(place, `tooldex-${mark}`), { force: true })
  for (const path of [folder, shared, `/var/tmp/tooldex-${mark}.sock`, `/var/tmp/tooldex-${mark}.box`])
    rmSync(path, { force: true })
  await executors.warm.close?.()
})

const run = (level: Level, file: string, config = {}, executor = executors.cold): Promise<RunOutcome> => {
  const tool = toolOf('python', { scriptContent: scriptOf(file), executorConfig: { isolation: level, ...config } })
  return executor.prepare({ tool, input: given, timeoutMs: 150_000 }).run({})
}

/** What was measured, for the table: whether each attack was held at each level. */
const measured = new Map<string, boolean>()
const key = (level: Level, file: string) => `${level} ${file}`

describe('fault group K: scripts that try to break out', () => {
  for (const attack of attacks) {
    const isCounted = counted !== undefined || attack.file !== '127-memory-of-many'
    const reason = 'needs a control group that counts memory'
    const whenIsolated = isCounted ? itIsolated : needs(false, reason)
    const whenConfined = isCounted ? itConfined : needs(false, reason)
    whenIsolated(`fault ${attack.number} (isolated): a script cannot ${attack.tries}`, async () => {
      const before = knocks
      const outcome = await run('isolated', attack.file, attack.config)
      expect(outcome.isolation).toBe('isolated')
      measured.set(key('isolated', attack.file), wasHeld(attack, outcome))
      expect(wasHeld(attack, outcome), JSON.stringify(outcome)).toBe(true)
      expect([knocks - before, victim?.exitCode, victim?.signalCode]).toEqual([0, null, null])
    })

    whenIsolated(`fault ${attack.number} (isolated, from the pool): a script cannot ${attack.tries}`, async () => {
      await run('isolated', '134-imports', attack.config, executors.warm)
      const outcome = await run('isolated', attack.file, attack.config, executors.warm)
      expect(wasHeld(attack, outcome), JSON.stringify(outcome)).toBe(true)
    })

    // Root becomes a user that owns nothing; as any other user, a script may own the file, so that such calls are denied.
    const held = !notConfined.includes(attack.file) || (attack.file === '122-touch' && !isRoot)
    whenConfined(`fault ${attack.number} (confined): a script ${held ? 'cannot' : 'can'} ${attack.tries}`, async () => {
      const [before, sent] = [knocks, letters]
      const outcome = await run('confined', attack.file, attack.config)
      expect(outcome.isolation).toBe('confined')
      measured.set(key('confined', attack.file), wasHeld(attack, outcome))
      expect(wasHeld(attack, outcome), JSON.stringify(outcome)).toBe(held)
      expect([knocks - before, letters, victim?.exitCode, victim?.signalCode]).toEqual([0, sent, null, null])
    })

    it(`fault ${attack.number} (limited): what becomes of a script that tries to ${attack.tries} is measured`, async () => {
      const outcome = await run('limited', attack.file, attack.config)
      expect(outcome.isolation).toBe('limited')
      measured.set(key('limited', attack.file), wasHeld(attack, outcome))
      // Where tools have no namespace of their own, they may end other processes of the same user.
      if (containment === 'pid-namespace') expect([victim?.exitCode, victim?.signalCode]).toEqual([null, null])
    })
  }

  for (const level of levels) {
    const when = { isolated: itIsolated, confined: itConfined, limited: it }[level]
    when(`fault 131 (${level}): what a run leaves is not there for the next`, async () => {
      await run(level, '131-leftovers')
      const { output } = await run(level, '131-leftovers')
      measured.set(key(level, '131-leftovers'), isNothing(output))
      // Its own folder is fresh at every level; others are the machine's.
      expect(output).toEqual(level === 'limited' ? ['/dev/shm', '/tmp', '/var/tmp'] : [])
    })

    when(`fault 131 (${level}): shared memory that a run leaves is not there for the next`, async () => {
      await run(level, '131-memory')
      const { output } = await run(level, '131-memory')
      measured.set(key(level, '131-memory'), isNothing(output))
      expect(output).toEqual(level === 'limited' ? ['memory of another run'] : [])
    })
  }

  itIsolated('fault 131: nothing of a run is left on the machine, processes included', async () => {
    const stay = uniqueSeconds()
    const script = `import subprocess\ndef main(given):\n    subprocess.Popen(["setsid", "sleep", "${stay}"])\n    return 1\n`
    const tool = toolOf('python', { scriptContent: script })
    expect((await executors.cold.prepare({ tool, input: {} }).run({})).output).toBe(1)
    expect(findProcesses(stay)).toEqual([])
  })
})

describe('fault 131: folders of runs', () => {
  needs(isRoot, 'needs root, to become another user')(
    'fault 131 (limited, an ordinary user): what a run closed to itself is removed too',
    async () => {
      const script = `
        import { existsSync } from 'node:fs'
        const sandbox = new Sandbox({ env: process.env, allowLimited: true })
        const executor = createShellExecutor({ sandbox, env: process.env })
        const command = ['sh', '-c', 'mkdir -p one/two; chmod 0 one; pwd']
        const tool = { name: 't', executorConfig: { isolation: 'limited', command } }
        const { result } = await executor.prepare({ tool, input: {} }).run({})
        console.log(JSON.stringify([result.stdout.includes('tooldex-work-'), existsSync(result.stdout.trim())]))
      `
      expect(await runNode(script, { ordinary: true, env: { TMPDIR: '/var/tmp' } })).toEqual([[true, false]])
    },
  )
})

describe('fault 132: no sandbox', () => {
  const withoutBubblewrap = () => {
    const folder = tempFolder()
    symlinkSync('/usr/bin/prlimit', join(folder, 'prlimit'))
    return folder
  }
  const bare = (allowLimited: boolean) => {
    const empty = new Sandbox({ env: { PATH: withoutBubblewrap(), TOOLDEX_PYTHON: '/nowhere' }, allowLimited })
    return createPythonExecutor({ sandbox: empty, env: {}, environments: new Environments('/nowhere') })
  }
  const tool = (executorConfig = {}) => toolOf('python', { scriptContent: 'def main(given): return 1', executorConfig })

  it('fault 132: is refused, with what to install', async () => {
    await expect(bare(false).prepare({ tool: tool(), input: {} }).run({})).rejects.toMatchObject({
      code: 'SANDBOX_MISSING',
      message: expect.stringContaining('Command not found: bwrap'),
      hint: expect.stringMatching(/apt-get install bubblewrap.*Landlock, and install python3.*--allow-limited/),
    })
  })

  it('fault 132: limits only are the last choice, and only where an admin allows them', async () => {
    const { isolation } = await bare(true).prepare({ tool: tool(), input: {} }).run({})
    expect(isolation).toBe('limited')
  })

  itConfined('fault 132: without bubblewrap a tool without a level is confined, and recorded so', async () => {
    const second = new Sandbox({ env: { PATH: withoutBubblewrap() }, allowLimited: true })
    const executor = createPythonExecutor({ sandbox: second, env: {}, environments: new Environments('/nowhere') })
    expect((await executor.prepare({ tool: tool(), input: {} }).plan()).isolation).toBe('confined')
    expect((await executor.prepare({ tool: tool(), input: {} }).run({})).isolation).toBe('confined')
    await expect(executor.prepare({ tool: tool({ isolation: 'isolated' }), input: {} }).run({})).rejects.toMatchObject({
      code: 'SANDBOX_MISSING',
      message: expect.stringContaining('requests the isolation level isolated'),
    })
    expect(executor.readiness(tool({ isolation: 'isolated' })).state).toBe('needs-program')
    expect(executor.readiness(tool()).state).toBe('ready')
  })

  it('fault 132: a tool that requires isolation is rejected even where an admin allows less', async () => {
    const executor = bare(true)
    await expect(executor.prepare({ tool: tool({ isolation: 'isolated' }), input: {} }).run({})).rejects.toMatchObject({
      code: 'SANDBOX_MISSING',
    })
    expect(executor.readiness(tool({ isolation: 'isolated' })).state).toBe('needs-program')
  })

  it('fault 132: limits only must be allowed by an admin, even where there is a sandbox', async () => {
    const strict = createPythonExecutor({
      sandbox: new Sandbox({ env: process.env }),
      env: process.env,
      environments: new Environments('/nowhere'),
    })
    await expect(strict.prepare({ tool: tool({ isolation: 'limited' }), input: {} }).run({})).rejects.toMatchObject({
      code: 'POLICY_REFUSED',
      hint: expect.stringContaining('--allow-limited'),
    })
  })

  it('fault 132: a bubblewrap that makes no sandbox is not taken for one', async () => {
    const fake = tempFile(
      'bwrap',
      '#!/bin/sh\nwhile [ "$1" != "--" ]; do shift; done\nshift\nexec "$@"\n',
      tempFolder(),
      0o755,
    )
    const path = `${join(fake, '..')}:${process.env.PATH}`
    const found = await new Sandbox({ env: { PATH: path } }).levels.isolated.run()
    expect(found).toHaveProperty('reason')
  })
})

describe('the sandbox without privileges', () => {
  needs('made' in probed && isRoot, 'needs root, to become another user')(
    'fault 127 (isolated): holds for an ordinary user too, processes included',
    async () => {
      const script = `
        import { createPythonExecutor, Environments, Sandbox } from '${projectRoot}/dist/executors/index.js'
        const sandbox = new Sandbox({ env: process.env })
        const executor = createPythonExecutor({ sandbox, env: process.env, environments: new Environments('/nowhere') })
        const scripts = ${JSON.stringify(['121-files', '122-writes', '125-syscalls', '127-processes'].map(scriptOf))}
        for (const scriptContent of scripts) {
          const tool = { name: 't', executorConfig: {}, scriptContent }
          const { isolation, output, errorMessage } = await executor.prepare({ tool, input: ${JSON.stringify(given)} }).run({})
          console.log(JSON.stringify({ isolation, output, errorMessage }))
        }
      `
      const user = 'setpriv --reuid=65534 --regid=65534 --clear-groups node --input-type=module'
      const stdin = { command: user, tool: { args: [{ name: 'input', stdin: true }], timeout: 150 } }
      const settings = { given: { input: script }, env: { PATH: process.env.PATH }, containment: createProcessGroups() }
      const { result } = await runTool(stdin, settings)
      expect(result.stderr).toBe('')
      const ended = result.stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown)
      expect(ended).toEqual(Array(4).fill({ isolation: 'isolated', output: [], errorMessage: null }))
    },
  )

  it('fault 125: filters are made for both processors, and for no other', () => {
    for (const arch of ['x64', 'arm64']) expect((seccompProgram(arch)?.length ?? 1) % 8).toBe(0)
    expect(seccompProgram('x64')?.equals(seccompProgram('arm64') ?? Buffer.alloc(0))).toBe(false)
    expect(seccompProgram('mips')).toBeUndefined()
  })
})

describe('the table of docs/security.md', () => {
  const page = join(projectRoot, 'docs', 'security.md')
  const [open, close] = ['<!-- attacks -->\n', '<!-- /attacks -->']

  needs('made' in probed && landlocked && isRoot && existsSync('/sys/fs/cgroup'), 'was measured as root')(
    'fault group K: has the measured result of each attack',
    () => {
      const rows = [...attacks.map(({ number, file, tries }) => ({ number, file, tries })), ...leftovers].sort(
        (a, b) => a.number - b.number,
      )
      const say = (level: Level, file: string) => (measured.get(key(level, file)) ? 'holds' : '**does not hold**')
      const lines = rows.map(
        ({ number, file, tries }) =>
          `| ${number} | ${tries} | ${levels.map((level) => say(level, file)).join(' | ')} |`,
      )
      const head = [`| case | a script that tries to | ${levels.join(' | ')} |`, '| --- | --- | --- | --- | --- |']
      const table = `${[...head, ...lines].join('\n')}\n`
      const text = readFileSync(page, 'utf8')
      const [before, rest = ''] = text.split(open)
      if (process.env.TOOLDEX_WRITE_DOCS)
        writeFileSync(page, `${before}${open}${table}${close}${rest.split(close)[1] ?? ''}`)
      else expect(rest.split(close)[0]).toBe(table)
    },
  )
})
