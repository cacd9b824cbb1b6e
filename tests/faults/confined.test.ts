import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { toolOf } from '../../src/executors/executor.suite.ts'
import { createPythonExecutor, createShellExecutor, Environments, Sandbox } from '../../src/executors/index.ts'
import { descendantsOfProcess } from '../../src/executors/process/process-tree.ts'
import { encodeConfinedPolicy } from '../../src/executors/sandbox/confined-sandbox.ts'
import { defaultSandboxLimits } from '../../src/executors/sandbox/sandbox-limits.ts'
import { seccompProgram } from '../../src/executors/sandbox/seccomp-program.ts'
import { needs } from '../support/needs.ts'
import { runCli } from '../support/run-cli.ts'
import { tempFolder, tempScript } from '../support/temp-folder.ts'
import { commandOf, findProcesses, uniqueSeconds } from './processes.ts'
import { runNode, startNode } from './run-node.ts'
import { attacks, notConfined, scriptOf } from './sandbox-attacks.ts'

const sandbox = new Sandbox({ env: process.env })
const landlocked = 'made' in (await sandbox.levels.confined.run())
const isRoot = process.geteuid?.() === 0
const itConfined = needs(landlocked, 'needs Landlock of Linux 6.12')
const itRoot = needs(landlocked && isRoot, 'needs Landlock of Linux 6.12 and root, to become another user')

const shell = createShellExecutor({ sandbox, env: process.env })
const run = (executorConfig: Record<string, unknown>, input = {}, executor = shell) =>
  executor
    .prepare({ tool: toolOf('shell', { executorConfig: { isolation: 'confined', ...executorConfig } }), input })
    .run({})

/** Numbers of calls that the launcher cannot do without. */
const calls: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  x64: { setsid: 112, setgroups: 116, setresuid: 117, setresgid: 119, capset: 126, prctl: 157 },
  arm64: { setsid: 157, setgroups: 159, setresuid: 147, setresgid: 149, capset: 91, prctl: 167 },
}
const landlock = {
  close_range: 436,
  landlock_create_ruleset: 444,
  landlock_add_rule: 445,
  landlock_restrict_self: 446,
}

/** Says what a program printed, and how it was refused. */
const tryToConfine = `
const shape = { limits: defaultSandboxLimits, network: false, mounts: [], env: {} }
const sandbox = confinedSandbox({ python: '/usr/bin/python3', user: 'own' }, shape, false)
const argv = ['sh', '-c', 'echo ran']
const end = await runProcess({ program: '/bin/sh', argv, cwd: '/', env: {}, timeoutMs: 20_000 }, defaultLimits, sandbox, {})
let code = null
try {
  sandbox.explain(end)
} catch (error) {
  code = error.code
}
console.log(JSON.stringify([end.stdout.text, code]))
`

describe('fault 132 (confined): whatever is missing, nothing is started', () => {
  itRoot('the program is started where nothing is missing', async () => {
    expect(await runNode(tryToConfine)).toEqual([['ran\n', null]])
  })

  for (const [name, number] of Object.entries({ ...landlock, ...calls[process.arch] })) {
    itRoot(`fault 132: a machine without ${name}`, async () => {
      expect(await runNode(tryToConfine, { without: number })).toEqual([['', 'SANDBOX_FAILED']])
    })
  }

  itConfined('fault 132: without Landlock and bubblewrap both are named, with what to install', async () => {
    const folder = tempFolder()
    chmodSync(folder, 0o755)
    const script = `
      const sandbox = new Sandbox({ env: { PATH: '${folder}' } })
      const executor = createShellExecutor({ sandbox, env: {} })
      const tool = { name: 'tool', executorConfig: { command: ['echo', 'ran'] } }
      for (const isolation of [undefined, 'confined']) {
        const asked = { ...tool, executorConfig: { ...tool.executorConfig, isolation } }
        const { code, message, hint } = await executor.prepare({ tool: asked, input: {} }).run({}).catch((error) => error)
        console.log(JSON.stringify({ code, message, hint, state: executor.readiness(asked).state }))
      }
    `
    const told = await runNode(script, { without: landlock.landlock_create_ruleset })
    expect(told).toEqual([
      {
        code: 'SANDBOX_MISSING',
        message: expect.stringMatching(/Command not found: bwrap; .*the kernel has no Landlock/),
        hint: expect.stringMatching(/apt-get install bubblewrap.*Linux 6\.12.*python3.*--allow-limited/),
        state: 'needs-program',
      },
      {
        code: 'SANDBOX_MISSING',
        message: expect.stringContaining('requests the isolation level confined'),
        hint: expect.stringMatching(/Linux 6\.12/),
        state: 'needs-program',
      },
    ])
  })
})

describe('the self-test of the level confined', () => {
  /** A Python that runs the launcher with a part of it taken out. */
  const lying = (...parts: readonly string[]) => {
    const folder = tempFolder()
    chmodSync(folder, 0o755)
    const script = `#!/usr/bin/python3 -IS
import os, sys
words = sys.argv[1:]
for part in ${JSON.stringify(parts)}:
    words = [word.replace(part, 'max(0, 0) #') for word in words]
os.execv('/usr/bin/python3', ['/usr/bin/python3', *words])
`
    return tempScript('bin/python3', script, folder)
  }
  const probe = (python: string) => new Sandbox({ env: { TOOLDEX_PYTHON: python } }).levels.confined.run()

  itRoot('is passed by a launcher that is whole', async () => {
    expect(await probe(lying('what is not in it'))).toHaveProperty('made')
  })

  for (const [parts, reason] of [
    [["system('landlock_restrict_self'"], /signals are not blocked/],
    [['restrict(rules_of(policy)', 'require_scope(keeper)'], /files of the machine can be read/],
    [["set_filter(policy['filter'][0])"], /services of the machine can be reached/],
    [['os.setresuid(user, user, user)'], /could not be confined|it is root/],
    [["prctl('PR_SET_NO_NEW_PRIVS'"], /could not be confined/],
  ] as const)
    itRoot(`is not passed by a launcher without ${parts.join(' and ')}`, async () => {
      expect(await probe(lying(...parts))).toEqual({ reason: expect.stringMatching(reason) })
    })

  it('is not passed by a program that is not Python', async () => {
    expect(await probe(tempScript('python3', '#!/bin/sh\necho tried\n'))).toHaveProperty('reason')
    expect(await probe('/nowhere')).toEqual({ reason: expect.stringContaining('python3') })
  })
})

describe('doctor', () => {
  const doctor = async (env: Record<string, string>) => {
    const { stdout } = await runCli(['doctor', '--json'], { env: { TOOLDEX_HOME: tempFolder(), ...env } })
    const { checks } = JSON.parse(stdout) as {
      checks: { name: string; state: string; message: string; hint?: string }[]
    }
    return checks.find(({ name }) => name === 'sandbox')
  }

  itConfined('shows the isolation level of tools, and how to improve it', async () => {
    expect(await doctor({ PATH: tempFolder() })).toEqual({
      name: 'sandbox',
      state: 'warning',
      message: expect.stringContaining('run confined (Landlock), not isolated: Command not found: bwrap'),
      hint: expect.stringContaining('apt-get install bubblewrap'),
    })
    expect(await doctor({ PATH: tempFolder(), TOOLDEX_PYTHON: '/nowhere' })).toMatchObject({
      state: 'warning',
      message: expect.stringContaining('refused: Command not found: bwrap; there is no python3'),
      hint: expect.stringMatching(/bubblewrap.*Landlock/),
    })
  })
})

describe('the level confined for an ordinary user', () => {
  const held = attacks.filter(({ file }) => ![...notConfined, '127-memory-of-many'].includes(file))

  itRoot('fault group K (confined): holds without privileges too', async () => {
    const folder = tempFolder()
    const canary = join(folder, 'canary')
    writeFileSync(canary, 'canary')
    // All of it is that user's own: only the walls can hold it.
    for (const path of [folder, canary]) chownSync(path, 65_534, 65_534)
    const server = createServer((line) => line.destroy())
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as { port: number }
    const scripts = held.filter(({ held: own }) => own === undefined).map(({ file }) => [file, scriptOf(file)] as const)
    const script = `
        import { spawn } from 'node:child_process'
        const victim = spawn('sleep', ['600'], { stdio: 'ignore' })
        const sandbox = new Sandbox({ env: process.env })
        const executor = createPythonExecutor({ sandbox, env: process.env, environments: new Environments('/nowhere') })
        const input = { canary: '${canary}', shared: '${canary}', folder: '${folder}', name: 'left', pid: victim.pid, server: process.pid,
          mark: '600', port: ${port}, port6: 9, abstract: 'none', socket: '/nowhere', letters: '/nowhere' }
        for (const [file, scriptContent] of ${JSON.stringify(scripts)}) {
          const tool = { name: 't', executorConfig: { isolation: 'confined' }, scriptContent }
          const { isolation, output, errorMessage } = await executor.prepare({ tool, input }).run({})
          console.log(JSON.stringify([file, isolation, output, errorMessage]))
        }
        console.log(JSON.stringify([victim.exitCode, victim.signalCode]))
        victim.kill('SIGKILL')
      `
    const ended = await runNode(script, { ordinary: true }).finally(() => server.close())
    expect(ended).toEqual([...scripts.map(([file]) => [file, 'confined', [], null]), [null, null]])
  })
})

describe('the level confined in a container', () => {
  const usual = 'chown dac_override fowner fsetid kill setgid setuid setpcap net_bind_service net_raw sys_chroot mknod'
  const probe = `
    const sandbox = new Sandbox({ env: process.env })
    console.log(JSON.stringify(await sandbox.levels.confined.run()))
  `
  // One of the calls that the profiles of container engines refuse.
  const unshare = process.arch === 'x64' ? 272 : 97

  itRoot('works for root with the usual capabilities', async () => {
    const [confined] = await runNode(probe, { capabilities: usual.split(' '), without: unshare })
    expect(confined).toEqual({ made: { python: '/usr/bin/python3', user: 'own' } })
  })

  itRoot('is refused for root without the right to change users, with the reason', async () => {
    const [confined] = await runNode(probe, { capabilities: ['chown', 'kill'] })
    expect(confined).toEqual({ reason: expect.stringContaining('cannot become another user') })
  })
})

/** A tool that tries to be forgotten: it forks twice, leaves its session, its variables and its name, and hears no signal. */
const hides = (seconds: string, wait: number) => `
import ctypes, os, signal, time
def main(given):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for name in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
                signal.signal(name, signal.SIG_IGN)
            ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)
            for fd in range(4):
                os.close(fd)
            os.execve('/usr/bin/sleep', ['sleep', '${seconds}'], {})
        os._exit(0)
    time.sleep(${wait})
    return 'done'
`

describe('fault 59 (confined): what hides is found', () => {
  const python = createPythonExecutor({ sandbox, env: process.env, environments: new Environments('/nowhere') })
  const script = (seconds: string, wait: number) =>
    toolOf('python', { scriptContent: hides(seconds, wait), executorConfig: { isolation: 'confined' } })

  itConfined('when the tool ended', async () => {
    const seconds = uniqueSeconds()
    expect((await python.prepare({ tool: script(seconds, 0.3), input: {} }).run({})).output).toBe('done')
    expect(findProcesses(seconds)).toEqual([])
  })

  itConfined('at its deadline', async () => {
    const seconds = uniqueSeconds()
    const { status } = await python.prepare({ tool: script(seconds, 60), input: {}, timeoutMs: 1000 }).run({})
    expect([status, findProcesses(seconds)]).toEqual(['TIMEOUT', []])
  })

  itConfined('where it never stays in one process', async () => {
    const mark = uniqueSeconds()
    const walk = `# ${mark}\nimport os\nos.setsid() if os.fork() == 0 else os._exit(0)\nwhile True:\n    if os.fork():\n        os._exit(0)`
    const { status } = await run({ command: ['sh', '-c', 'python3 -c "$0"; sleep 60', walk], timeoutMs: 1500 })
    expect([status, findProcesses(mark)]).toEqual(['TIMEOUT', []])
  })

  itRoot('when its keeper is killed', async () => {
    const seconds = uniqueSeconds()
    const running = python.prepare({ tool: script(seconds, 60), input: {} }).run({})
    const sleeping = () => findProcesses(`sleep ${seconds}`).length
    await expect.poll(sleeping).toBe(1)
    const keepers = descendantsOfProcess(process.pid).filter((pid) => commandOf(pid).includes('landlock_restrict_self'))
    expect(keepers.length).toBe(1)
    for (const pid of keepers) process.kill(pid, 'SIGKILL')
    const { status, errorCode } = await running
    expect([status, errorCode]).toEqual(['FAILED', 'KILLED_BY_SIGNAL'])
    expect(sleeping()).toBe(0)
  })

  for (const ordinary of [false, true]) {
    const when = ordinary ? itRoot : itConfined
    when(`when the server is killed${ordinary ? ', an ordinary user' : ''}`, async () => {
      const seconds = uniqueSeconds()
      const folder = tempFolder()
      chmodSync(folder, 0o1777)
      const server = startNode(
        `
        const sandbox = new Sandbox({ env: process.env })
        const executor = createPythonExecutor({ sandbox, env: process.env, environments: new Environments('/nowhere') })
        const executorConfig = { isolation: 'confined' }
        await executor.prepare({ tool: { name: 't', executorConfig, scriptContent: ${JSON.stringify(hides(seconds, 60))} }, input: {} }).run({})
        `,
        { ordinary, env: { TMPDIR: folder } },
      )
      const sleeping = () => findProcesses(`sleep ${seconds}`).length
      await expect.poll(sleeping).toBe(1)
      expect(readdirSync(folder)).toEqual([expect.stringContaining('tooldex-work-')])
      server.kill('SIGKILL')
      await expect.poll(sleeping).toBe(0)
      await expect.poll(() => readdirSync(folder)).toEqual([])
    })
  }
})

describe('what a confined tool has', () => {
  const listOpen = `import os
def is_open(fd):
    try:
        return os.fstat(fd) is not None
    except OSError:
        return False
print([fd for fd in range(256) if is_open(fd)])`

  itConfined('fault 126 (confined): no file that the server was started with', async () => {
    const script = `
      const executor = createShellExecutor({ sandbox: new Sandbox({ env: process.env }), env: process.env })
      const executorConfig = { isolation: 'confined', command: ['python3', '-c', ${JSON.stringify(listOpen)}] }
      const { result } = await executor.prepare({ tool: { name: 't', executorConfig }, input: {} }).run({})
      console.log(JSON.stringify(result.stdout))
    `
    const left = 'exec 7</etc/hostname 9</etc/hostname; exec "$@"'
    expect(await runNode(script, { shell: left })).toEqual(['[0, 1, 2]\n'])
  })

  itConfined('a fresh folder that is gone afterwards, and a small environment', async () => {
    const print =
      'pwd; env | cut -d = -f 1 | sort; cd "$HOME"; mkdir -m 0 shut; mkdir -p a/b; mv a/b c; echo x > "$TMPDIR/x"; ls'
    const { result } = await run({ command: ['sh', '-c', print], cwd: '/work' })
    expect(result.stderr).toBe('')
    const [folder = '', ...rest] = result.stdout.trim().split('\n')
    expect(rest).toEqual(['HOME', 'PATH', 'PWD', 'TMPDIR', 'a', 'c', 'shut', 'x'])
    expect(folder).toContain('/tooldex-work-')
    expect(existsSync(folder)).toBe(false)
  })

  itConfined('folders that an admin lets it read, and packages, where they lie; it cannot write there', async () => {
    const folder = tempFolder()
    chmodSync(folder, 0o777)
    writeFileSync(join(folder, 'data.txt'), 'let in')
    const open = createShellExecutor({
      sandbox: new Sandbox({ env: process.env, folders: [{ path: folder, writable: false }] }),
      env: process.env,
    })
    const tool = { command: ['sh', '-c', 'cat data.txt; echo x > new'], cwd: folder }
    const { result } = await run(tool, {}, open)
    expect([result.stdout, result.stderr]).toEqual(['let in', expect.stringContaining('Permission denied')])
    await expect(run(tool)).rejects.toMatchObject({ code: 'POLICY_REFUSED' })
    const environments = new Environments(join(folder, 'envs'))
    mkdirSync(join(folder, 'packages'))
    writeFileSync(join(folder, 'packages', 'weather.py'), 'zone = "Europe/Vienna"\n')
    chmodSync(join(folder, 'packages'), 0o755)
    environments.add('weather', join(folder, 'packages'))
    const scriptContent = 'import weather\ndef main(given): return weather.zone\n'
    const executorConfig = { isolation: 'confined', environment: 'weather' }
    const python = createPythonExecutor({ sandbox, env: process.env, environments })
    const ended = await python.prepare({ tool: toolOf('python', { scriptContent, executorConfig }), input: {} }).run({})
    expect([ended.output, ended.environment]).toEqual(['Europe/Vienna', expect.stringMatching(/^weather@/)])
  })

  itConfined('no way to change such a file through one that it opened to read, or to read its attributes', async () => {
    const folder = tempFolder()
    const file = join(folder, 'data.txt')
    writeFileSync(file, 'let in')
    if (isRoot) for (const path of [folder, file]) chownSync(path, 65_534, 65_534)
    const script = `import fcntl, os
reached = []
file = os.open('data.txt', os.O_RDONLY)
tries = {
    'owner': lambda: os.fstat(file).st_uid == os.getuid() or 1 / 0,
    'mode': lambda: os.fchmod(file, 0o4777),
    'group': lambda: os.fchown(file, -1, os.getgid()),
    'flags': lambda: fcntl.ioctl(file, 0x40086602, bytes([0x40, 0, 0, 0, 0, 0, 0, 0])),
    'lease': lambda: fcntl.fcntl(file, 1024, 0),
    'attribute': lambda: os.setxattr(file, 'user.tooldex', b'x'),
    'read': lambda: os.getxattr('data.txt', 'user.kept'),
    'list': lambda: os.listxattr(file),
}
for name, attempt in tries.items():
    try:
        attempt()
        reached.append(name)
    except OSError as error:
        assert error.errno in (1, 95), (name, error)
print(reached)`
    const open = createShellExecutor({
      sandbox: new Sandbox({ env: process.env, folders: [{ path: folder, writable: false }] }),
      env: process.env,
    })
    const { result } = await run({ command: ['python3', '-c', script], cwd: folder }, {}, open)
    expect([result.stdout, result.stderr]).toEqual(["['owner']\n", ''])
  })

  itConfined('the network only where it asks and an admin allows it, and no Unix sockets even then', async () => {
    const server = createServer((line) => line.end('hello'))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as { port: number }
    const dial = `import socket
print(socket.create_connection(('127.0.0.1', ${port})).recv(9))
try:
    socket.socket(socket.AF_UNIX)
    print('a Unix socket')
except OSError as error:
    print(error.errno)`
    const tool = { command: ['python3', '-c', dial], network: true }
    const allowed = new Sandbox({ env: process.env, allowNetwork: true })
    const open = createShellExecutor({ sandbox: allowed, env: process.env })
    try {
      expect((await run(tool, {}, open)).result.stdout).toBe("b'hello'\n97\n")
      await expect(run(tool)).rejects.toMatchObject({ code: 'POLICY_REFUSED' })
      const { result } = await run({ ...tool, network: false }, {}, open)
      expect(result.stderr).toContain('PermissionError')
    } finally {
      server.close()
    }
  })

  itConfined('programs with certificates, time zones and other processes work', async () => {
    const script = `import ssl, subprocess, zoneinfo, asyncio, tempfile
assert ssl.create_default_context().cert_store_stats()['x509_ca'] >= 0
assert str(zoneinfo.ZoneInfo('Europe/Vienna')) == 'Europe/Vienna'
assert asyncio.run(asyncio.sleep(0, 'slept')) == 'slept'
with tempfile.NamedTemporaryFile() as file:
    file.write(b'x')
print(subprocess.run(['sort'], input='b\\na\\n', capture_output=True, text=True).stdout)`
    const { result } = await run({ command: ['python3', '-c', script] })
    expect([result.stderr, result.stdout]).toEqual(['', 'a\nb\n\n'])
  })

  itConfined('signals as they are, not as the launcher had them', async () => {
    const script =
      'import signal; print([name.name for name in signal.Signals if signal.getsignal(name) == signal.SIG_IGN])'
    const pipes = 'yes | head -n 1; python3 -c "$0"; ulimit -f 1; head -c 9999 /dev/zero > large; echo $?'
    const { result } = await run({ command: ['sh', '-c', pipes, script] })
    // Python itself ignores these two; the shell says by which signal a program ended.
    expect(result.stdout).toBe("y\n['SIGPIPE', 'SIGXFSZ']\n153\n")
  })

  itConfined('an error of ours where the words are too long or have a NUL byte', async () => {
    const long = run({ command: ['printf', '{{text}}'] }, { text: 'x'.repeat(3 * 1024 * 1024) })
    await expect(long).rejects.toMatchObject({ code: 'ARGUMENTS_TOO_LONG' })
    const shape = { limits: defaultSandboxLimits, network: false, mounts: [], env: { A: 'x\0run\0/root' } }
    const filter = seccompProgram() ?? Buffer.alloc(0)
    const given = { folder: '/tmp', user: undefined, filter, withChannel: false, program: '/bin/sh', argv: ['sh'] }
    expect(() => encodeConfinedPolicy(shape, given)).toThrow('NUL')
  })
})
