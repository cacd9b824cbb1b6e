import { spawn } from 'node:child_process'
import { chmodSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { createProcessGroups } from '../../src/executors/process/process-group.ts'
import { needs } from '../support/needs.ts'
import { mainFile, projectRoot, runCli } from '../support/run-cli.ts'
import { runUntilBegun } from '../support/run-until-begun.ts'
import { tempFile, tempFolder, tempScript } from '../support/temp-folder.ts'
import { countProcesses, findProcesses, peakDuring, residentBytes, uniqueSeconds } from './processes.ts'
import { containments, hasPidsCgroup, runTool } from './run-tool.ts'

const megabyte = 1024 * 1024

describe('fault 57: a command that sleeps past its limit', () => {
  const slow = (seconds: string) =>
    tempScript('slow', `#!/bin/bash\necho started\necho warned >&2\nsleep ${seconds} &\nsleep ${seconds}\n`)

  for (const { kind, containment, it } of containments) {
    it(`fault 57 (${kind}): with its own limit is ended at that limit, its tree gone`, async () => {
      const seconds = uniqueSeconds()
      const command = slow(seconds)
      const { outcome, seconds: timeout } = await runUntilBegun(
        (limit) => runTool({ command, tool: { timeout: limit } }, { containment }),
        ({ result }) => result.stdout !== '',
      )
      expect(findProcesses(seconds)).toEqual([])
      expect(outcome.status).toBe('TIMEOUT')
      expect(outcome.result.durationMs).toBeGreaterThanOrEqual(1000 * timeout - 10)
      expect(outcome.result.stdout).toBe('started\n')
    })
  }

  it('fault 57: a limit of a hundred years is no limit of nothing', async () => {
    const { status } = await runTool({ command: 'sleep 0.2', tool: { timeout: 3e9 } })
    expect(status).toBe('SUCCESS')
  })

  it('fault 57: the command line exits with 5 and keeps the output', async () => {
    const seconds = uniqueSeconds()
    const command = slow(seconds)
    const call = (timeout: number) => {
      const text = `command: ${command}\ntools: [{name: t, description: d, timeout: ${timeout}}]\n`
      return runCli(['call', '-c', tempFile('slow.yaml', text), 't'])
    }
    const { outcome, seconds: timeout } = await runUntilBegun(call, ({ stdout }) => stdout !== '')
    expect(findProcesses(seconds)).toEqual([])
    expect([outcome.code, outcome.stdout]).toEqual([5, 'started\n'])
    expect(outcome.stderr).toContain(`Command timed out after ${timeout.toFixed(1)}s`)
  })
})

describe('fault 58: a command that does not listen', () => {
  for (const { kind, containment, it } of containments) {
    it(`fault 58 (${kind}): ignores SIGTERM and is killed after the grace`, async () => {
      const seconds = uniqueSeconds()
      const deaf = `#!/bin/bash\ntrap '' TERM\necho deaf\nwhile true; do sleep ${seconds}; done\n`
      const command = tempScript('deaf', deaf)
      const { outcome, seconds: timeout } = await runUntilBegun(
        (limit) => runTool({ command, tool: { timeout: limit } }, { containment }),
        ({ result }) => result.stdout !== '',
      )
      const { status, result } = outcome
      expect(findProcesses(seconds)).toEqual([])
      expect([status, result.signal, result.stdout]).toEqual(['TIMEOUT', 'SIGKILL', 'deaf\n'])
      expect(result.durationMs).toBeGreaterThanOrEqual(1000 * timeout + 490)
    })

    it(`fault 58 (${kind}): one that listens has the grace to clean up`, async () => {
      const trap = "trap 'sleep 0.2; echo cleaned up; exit 3' TERM"
      const command = tempScript('polite', `#!/bin/bash\n${trap}\necho ready\nwhile true; do sleep 0.05; done\n`)
      // A grace that is long enough however slow the machine is.
      const { outcome } = await runUntilBegun(
        (limit) => runTool({ command, tool: { timeout: limit } }, { containment, limits: { graceMs: 60_000 } }),
        ({ result }) => result.stdout !== '',
      )
      expect([outcome.status, outcome.result.exitCode, outcome.result.stdout]).toEqual([
        'TIMEOUT',
        3,
        'ready\ncleaned up\n',
      ])
    })
  }
})

/** Two forks and a session of its own, as a daemon does it; then the program given, with nothing of ours open. */
const daemonize = (command: string) => `#!/usr/bin/env python3
import os, sys
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        null = os.open('/dev/null', os.O_RDWR)
        for fd in (0, 1, 2):
            os.dup2(null, fd)
        os.execvp('${command.split(' ')[0]}', ${JSON.stringify(command.split(' '))})
    os._exit(0)
os.wait()
print('daemon started', flush=True)
`

describe('fault 59: a daemon', () => {
  for (const { kind, containment, it } of containments) {
    it(`fault 59 (${kind}): forked twice, in a session of its own, is gone when the call ends`, async () => {
      const seconds = uniqueSeconds()
      const command = tempScript('daemon', daemonize(`sleep ${seconds}`))
      const { status, result } = await runTool({ command }, { containment })
      expect(findProcesses(seconds)).toEqual([])
      expect([status, result.stdout]).toEqual(['SUCCESS', 'daemon started\n'])
    })

    it(`fault 59 (${kind}): is gone when the call is cut off, too`, async () => {
      const seconds = uniqueSeconds()
      const script = `${daemonize(`sleep ${seconds}`)}import time\ntime.sleep(60)\n`
      const command = tempScript('daemon', script)
      const { outcome } = await runUntilBegun(
        (limit) => runTool({ command, tool: { timeout: limit } }, { containment }),
        ({ result }) => result.stdout !== '',
      )
      expect(findProcesses(seconds)).toEqual([])
      expect([outcome.status, outcome.result.stdout]).toEqual(['TIMEOUT', 'daemon started\n'])
    })
  }

  const [namespace] = containments
  namespace?.it(
    'fault 59 (pid-namespace): one with another user and an empty environment is gone as well',
    async () => {
      const seconds = uniqueSeconds()
      const hidden = `env -i setsid setpriv --reuid=65534 --regid=65534 --clear-groups sleep ${seconds}`
      const { containment } = namespace
      const started = await runTool({ command: tempScript('daemon', daemonize(hidden)) }, { containment })
      expect([started.status, findProcesses(seconds)]).toEqual(['SUCCESS', []])
      const cut = await runTool({ command: hidden, tool: { timeout: 0.5 } }, { containment })
      expect([cut.status, findProcesses(seconds)]).toEqual(['TIMEOUT', []])
    },
  )
})

describe('fault 60: a child that ends before its own child', () => {
  for (const { kind, containment, it } of containments) {
    it(`fault 60 (${kind}): the call ends although the grandchild holds stdout, and the grandchild is gone`, async () => {
      const seconds = uniqueSeconds()
      const command = tempScript('parent', `#!/bin/bash\nsleep ${seconds} &\necho parent done\n`)
      const { status, result } = await runTool({ command }, { containment })
      expect(findProcesses(seconds)).toEqual([])
      expect([status, result.stdout, result.exitCode]).toEqual(['SUCCESS', 'parent done\n', 0])
    })
  }
})

describe('fault 61: a fork bomb', () => {
  // What is refused a fork lingers, so that the peak can be seen however slowly it is looked for.
  const bomb = (first: string) => `#!/usr/bin/env python3
import os, time
while True:
    try:
        child = os.fork()
    except OSError:
        time.sleep(3)
        raise
    if child == 0:
        ${first}
`
  const bombs = { 'in its group': bomb('pass'), 'with a session for each': bomb('os.setsid()') }
  const needsCgroup = needs(
    hasPidsCgroup && containments[0]?.containment.kind === 'pid-namespace',
    'needs root and a pids cgroup',
  )

  for (const [name, script] of Object.entries(bombs)) {
    needsCgroup(`fault 61 (pid-namespace): ${name} is capped and fails; the machine stays usable`, async () => {
      const command = tempScript('bomb', script)
      const settings = { containment: containments[0]?.containment, limits: { processes: 64 } }
      const run = () => runTool({ command, tool: { timeout: 150 } }, settings)
      const [{ status, errorCode, result }, peak] = await peakDuring(() => countProcesses(command), run)
      expect([status, errorCode]).toEqual(['FAILED', 'EXECUTION_FAILED'])
      expect(result.stderr).toContain('Resource temporarily unavailable')
      expect(peak).toBeGreaterThan(10)
      expect(peak).toBeLessThanOrEqual(64)
      expect(findProcesses(command)).toEqual([])
    })
  }

  needsCgroup('fault 61 (pid-namespace): every call is inside its cap from its first moment', async () => {
    const { containment } = containments[0] ?? {}
    for (let call = 0; call < 30; call++) {
      const { result } = await runTool({ command: 'grep :pids: /proc/self/cgroup' }, { containment })
      expect(result.stdout).toContain(`/tooldex-${process.pid}-`)
    }
  })

  needs(process.geteuid?.() === 0, 'needs root, to become another user')(
    'fault 61 (process-group): without privileges the limit of the user caps it',
    async () => {
      const folder = tempFolder()
      chmodSync(folder, 0o755)
      const command = tempScript('bomb', bombs['in its group'], folder)
      const script = `
        import { createCliExecutor } from '${projectRoot}/dist/executors/cli/cli-executor.js'
        import { ToolIndex } from '${projectRoot}/dist/index.js'
        import { fromConfig } from '${projectRoot}/dist/rules/runnable-tool.js'
        const tool = ToolIndex.fromConfigs([{ command: '${command}', tools: [{ name: 't', description: '', timeout: 150 }] }]).get('t')
        const executor = createCliExecutor({ env: process.env, scope: 'user', limitFiles: true, limits: { processes: 64 } })
        console.log(JSON.stringify(await executor.prepare({ tool: fromConfig(tool), input: {} }).run({})))
      `
      const user = ['--reuid=65534', '--regid=65534', '--clear-groups']
      const tool = { args: [stdinArg], timeout: 150 }
      const call = { command: `setpriv ${user.join(' ')} node --input-type=module`, tool }
      const run = () => runTool(call, { containment: createProcessGroups(), given: { input: script } })
      const [outcome, peak] = await peakDuring(() => countProcesses(command), run)
      expect(outcome.result.stderr).toBe('')
      const inner = JSON.parse(outcome.result.stdout) as { status: string; errorCode: string }
      expect([inner.status, inner.errorCode]).toEqual(['FAILED', 'EXECUTION_FAILED'])
      expect(peak).toBeGreaterThan(10)
      expect(peak).toBeLessThanOrEqual(64 + 2)
      expect(findProcesses(command)).toEqual([])
    },
  )
})

const stdinArg = { name: 'input', stdin: true }

describe('fault 62: output without end', () => {
  const scripts = {
    stdout: '#!/bin/bash\nexec yes\n',
    stderr: '#!/bin/bash\nexec yes >&2\n',
    'both streams': '#!/bin/bash\nyes >&2 &\nexec yes\n',
  }

  for (const { kind, containment, it } of containments) {
    for (const [name, script] of Object.entries(scripts)) {
      it(`fault 62 (${kind}): on ${name} is cut at the cap, stopped long before the limit, and costs no memory`, async () => {
        const command = tempScript('endless', script)
        const before = residentBytes()
        const run = () => runTool({ command, tool: { timeout: 150 } }, { containment })
        const [{ status, errorCode, result }, peak] = await peakDuring(residentBytes, run)
        expect([status, errorCode, result.truncated]).toEqual(['FAILED', 'OUTPUT_LIMIT', true])
        expect(result.stdout.length).toBeLessThan(megabyte + 200)
        expect(result.stderr.length).toBeLessThan(megabyte + 200)
        expect(`${result.stdout}${result.stderr}`).toMatch(
          /\[std(out|err) cut: the first 1048576 of \d+ bytes are shown\]/,
        )
        expect(peak - before).toBeLessThan(100 * megabyte)
        expect(findProcesses(command)).toEqual([])
      })
    }
  }

  it('fault 62: a little more than the cap is cut, and the command succeeds', async () => {
    const { status, result } = await runTool({ command: `head -c ${1.5 * megabyte} /dev/zero` })
    expect([status, result.truncated, result.exitCode]).toEqual(['SUCCESS', true, 0])
    expect(result.stdout.slice(megabyte)).toBe('\n[stdout cut: the first 1048576 of 1572864 bytes are shown]')
  })

  it('fault 62: exactly the cap is not cut', async () => {
    const { result } = await runTool({ command: `head -c ${megabyte} /dev/zero` })
    expect([result.truncated, result.stdout.length]).toEqual([false, megabyte])
  })

  it('fault 62: a byte at a time costs no more memory than all at once', async () => {
    const script = '#!/usr/bin/env python3\nimport os\nfor _ in range(400_000): os.write(1, b"x")\n'
    const before = residentBytes()
    const [{ result }, peak] = await peakDuring(residentBytes, () =>
      runTool({ command: tempScript('drip', script), tool: { timeout: 150 } }),
    )
    expect(result.stdout.length).toBe(400_000)
    expect(peak - before).toBeLessThan(100 * megabyte)
  })

  it('fault 62: --max-output sets the cap, and the command line is not flooded', async () => {
    const text = 'command: yes\ntools: [{name: t, description: d}]\n'
    const { code, stdout } = await runCli(['call', '-c', tempFile('yes.yaml', text), '--max-output', '64KiB', 't'])
    expect(code).toBe(1)
    expect(stdout.length).toBeLessThan(66 * 1024)
  })
})

describe('processes after Tooldex itself was killed', () => {
  const [namespace] = containments
  namespace?.it('fault 57 (pid-namespace): kill -9 of the process takes its calls with it', async () => {
    const seconds = uniqueSeconds()
    const config = tempFile('sleep.yaml', `command: sleep ${seconds}\ntools: [{name: t, description: d}]\n`)
    const child = spawn(process.execPath, [mainFile, 'call', '-c', config, 't'], { stdio: 'ignore' })
    await expect.poll(() => findProcesses(`sleep ${seconds}`).length).toBeGreaterThan(0)
    child.kill('SIGKILL')
    await expect.poll(() => findProcesses(`sleep ${seconds}`)).toEqual([])
  })
})
