import { chmodSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type ErrorCode, TooldexError } from '../../src/base/errors.ts'
import { createProcessGroups } from '../../src/executors/process/process-group.ts'
import { needs } from '../support/needs.ts'
import { projectRoot } from '../support/run-cli.ts'
import { tempFile, tempFolder, tempScript } from '../support/temp-folder.ts'
import { containments, runTool, type ToolInput } from './run-tool.ts'

interface Case {
  readonly input: () => ToolInput
  readonly given?: Record<string, unknown>
  readonly code: ErrorCode
  readonly says: RegExp
  readonly exitCode?: number
  readonly signal?: string
}

const script = (text: string) => () => ({ command: tempScript('tool', text) })
const file =
  (content: string | Uint8Array, mode = 0o755) =>
  () => ({ command: tempFile('tool', content, tempFolder(), mode) })
const inFolder = (workingDir: () => string) => () => ({ command: 'true', workingDir: workingDir() })
const python = (text: string) => script(`#!/usr/bin/env python3\n${text}\n`)
const wordArg = { name: 'word', flag: '--word' }
const cwdArg = { name: 'folder', cwd: true }

/** The machine number of a real program changed to one that no machine here has. */
function foreignProgram(): Uint8Array {
  const program = readFileSync(process.execPath).subarray(0, 4096)
  program.writeUInt16LE(0x1234, 18)
  return program
}

/** A real program that asks for a loader which is not there. */
function programWithoutLoader(): Uint8Array {
  return Buffer.from(readFileSync('/usr/bin/env').toString('latin1').replace('/ld-linux', '/no-linux'), 'latin1')
}

const cases: Record<string, Case> = {
  'ends itself with SIGTERM': {
    input: script('#!/bin/bash\nkill -TERM $$\nsleep 1\n'),
    code: 'KILLED_BY_SIGNAL',
    says: /SIGTERM/,
    signal: 'SIGTERM',
  },
  'ends itself with SIGKILL': {
    input: script('#!/bin/bash\nkill -KILL $$\nsleep 1\n'),
    code: 'KILLED_BY_SIGNAL',
    says: /SIGKILL/,
    signal: 'SIGKILL',
  },
  'reads address 0': {
    input: python('import ctypes; ctypes.string_at(0)'),
    code: 'KILLED_BY_SIGNAL',
    says: /SIGSEGV/,
    signal: 'SIGSEGV',
  },
  'aborts with a core dump': {
    input: python('import os; os.abort()'),
    code: 'KILLED_BY_SIGNAL',
    says: /SIGABRT/,
    signal: 'SIGABRT',
  },
  'exits with 255': {
    input: script('#!/bin/bash\nexit 255\n'),
    code: 'EXECUTION_FAILED',
    says: /exit code 255/,
    exitCode: 255,
  },
  'exits with 137, as a shell would say SIGKILL': {
    input: script('#!/bin/bash\nexit 137\n'),
    code: 'EXECUTION_FAILED',
    says: /exit code 137/,
    exitCode: 137,
  },
  'is missing': {
    input: () => ({ command: 'no-such-program-here' }),
    code: 'COMMAND_NOT_FOUND',
    says: /no-such-program-here/,
  },
  'is a missing path': {
    input: () => ({ command: '/no/such/program' }),
    code: 'COMMAND_NOT_FOUND',
    says: /\/no\/such\/program/,
  },
  'is a path below a file': {
    input: () => ({ command: '/etc/passwd/program' }),
    code: 'COMMAND_NOT_FOUND',
    says: /passwd/,
  },
  'is a folder': { input: () => ({ command: tempFolder() }), code: 'COMMAND_NOT_FOUND', says: /tooldex-test/ },
  'is empty': { input: () => ({ command: '""' }), code: 'COMMAND_NOT_FOUND', says: /empty/ },
  'is not executable': {
    input: file('#!/bin/bash\n', 0o644),
    code: 'COMMAND_NOT_EXECUTABLE',
    says: /is not executable/,
  },
  'has a bad #! line': {
    input: file('#!/no/such/interpreter\n'),
    code: 'COMMAND_NOT_EXECUTABLE',
    says: /\/no\/such\/interpreter/,
  },
  'has a #! line of a folder': { input: file('#!/tmp\n'), code: 'COMMAND_NOT_EXECUTABLE', says: /\/tmp/ },
  'has an empty #! line': {
    input: file('#!\n/bin/sh\necho run by a shell\n'),
    code: 'COMMAND_NOT_EXECUTABLE',
    says: /#! line/,
  },
  'has a #! line that ends as on Windows': {
    input: file('#!/bin/bash\r\necho hi\r\n'),
    code: 'COMMAND_NOT_EXECUTABLE',
    says: /\/bin\/bash\\r/,
  },
  'has an interpreter that is text': {
    input: () => ({ command: tempScript('a', `#!${tempScript('b', 'echo run by a shell\n')}\n`) }),
    code: 'COMMAND_NOT_EXECUTABLE',
    says: /#! line/,
  },
  'is text without a #! line': {
    input: file('echo run by a shell\n'),
    code: 'COMMAND_NOT_EXECUTABLE',
    says: /#! line/,
  },
  'is an empty file': { input: file(''), code: 'COMMAND_NOT_EXECUTABLE', says: /#! line/ },
  'begins as a program and goes on as text': {
    input: file('\x7fELF\necho run by a shell\n'),
    code: 'COMMAND_NOT_EXECUTABLE',
    says: /this machine can run/,
  },
  'is for another machine': {
    input: () => file(foreignProgram())(),
    code: 'COMMAND_NOT_EXECUTABLE',
    says: /this machine can run/,
  },
  'wants a missing loader': {
    input: () => file(programWithoutLoader())(),
    code: 'COMMAND_NOT_EXECUTABLE',
    says: /loader .*no-linux/,
  },
  'runs in a missing folder': {
    input: inFolder(() => '/no/such/folder'),
    code: 'WORKING_DIR_INVALID',
    says: /\/no\/such\/folder does not exist/,
  },
  'runs in a file': {
    input: inFolder(() => tempFile('file', '')),
    code: 'WORKING_DIR_INVALID',
    says: /is not a folder/,
  },
  'runs below a file': {
    input: inFolder(() => join(tempFile('file', ''), 'x')),
    code: 'WORKING_DIR_INVALID',
    says: /ENOTDIR/,
  },
  'is given a folder with a NUL': {
    input: () => ({ command: 'true', tool: { args: [cwdArg] } }),
    given: { folder: '/tmp\0/x' },
    code: 'WORKING_DIR_INVALID',
    says: /\\u\{0\}/,
  },
  'is given a word that is too long': {
    input: () => ({ command: 'true', tool: { args: [wordArg] } }),
    given: { word: 'x'.repeat(200_000) },
    code: 'ARGUMENTS_TOO_LONG',
    says: /longer than the system allows/,
  },
  'is given too many words': {
    input: () => ({ command: 'true', tool: { args: [{ ...wordArg, repeat: true }] } }),
    given: { word: Array.from({ length: 60 }, () => 'x'.repeat(100_000)) },
    code: 'ARGUMENTS_TOO_LONG',
    says: /longer than the system allows/,
  },
  'is given a NUL': {
    input: () => ({ command: 'true', tool: { args: [wordArg] } }),
    given: { word: 'a\0b' },
    code: 'INPUT_INVALID',
    says: /NUL/,
  },
}

/** What a caller sees, whether the run failed or was refused. */
async function seen(input: ToolInput, settings: Parameters<typeof runTool>[1]) {
  try {
    const { status, errorCode, errorMessage, result } = await runTool(input, settings)
    return { status, code: errorCode, message: errorMessage ?? '', ...result }
  } catch (thrown) {
    if (!(thrown instanceof TooldexError)) throw thrown
    return {
      status: 'REFUSED',
      code: thrown.code,
      message: thrown.message,
      stdout: '',
      stderr: '',
      exitCode: null,
      signal: null,
    }
  }
}

describe('fault 65: a command that cannot run, or ends badly', () => {
  for (const { kind, containment, it } of containments) {
    for (const [name, { input, given, code, says, exitCode = null, signal = null }] of Object.entries(cases)) {
      it(`fault 65 (${kind}): a command that ${name}: ${code}`, async () => {
        const outcome = await seen(input(), { containment, ...(given === undefined ? {} : { given }) })
        expect([outcome.code, outcome.exitCode, outcome.signal]).toEqual([code, exitCode, signal])
        expect(outcome.message).toMatch(says)
        expect(outcome.message.length).toBeLessThan(600)
        // Neither a shell nor a wrapper of ours has anything to say to a caller.
        expect(outcome.message + outcome.stderr).not.toMatch(/\bsh:|: not found|unshare|nsenter|Syntax error/)
        expect(outcome.stdout).toBe('')
      })
    }
  }

  it('fault 65: a variable of ours cannot be read through the error about a missing folder', async () => {
    const env = { ...process.env, DEEP_SECRET: 'swordfish' }
    const tool = { args: [cwdArg] }
    const outcome = await seen({ command: 'true', tool }, { env, given: { folder: '/$DEEP_SECRET/${DEEP_SECRET}' } })
    expect([outcome.code, outcome.message.includes('swordfish')]).toEqual(['WORKING_DIR_INVALID', false])
  })

  it('fault 65: a program is looked for where the config says, and a folder that is a file is passed over', async () => {
    const folder = tempFolder()
    tempScript('only-here', '#!/bin/bash\necho found\n', folder)
    const path = `/etc/passwd:/no/such/folder:${folder}:${process.env.PATH}`
    const { result } = await runTool({ command: 'only-here', env: { PATH: path } })
    expect(result.stdout).toBe('found\n')
  })
})

/** Runs a script against the build in a process of its own, whose limits it may spoil; gives what it printed. */
async function inOwnProcess(prefix: string, body: string, containment = createProcessGroups()): Promise<unknown> {
  const source = `
    import { spawnSync } from 'node:child_process'
    import { openSync, closeSync } from 'node:fs'
    import { createCliExecutor } from '${projectRoot}/dist/executors/cli/cli-executor.js'
    import { ToolIndex } from '${projectRoot}/dist/index.js'
    import { fromConfig } from '${projectRoot}/dist/rules/runnable-tool.js'
    const executor = createCliExecutor({ env: process.env, scope: 'user' })
    const run = (command) => {
      const tool = ToolIndex.fromConfigs([{ command, tools: [{ name: 't', description: '' }] }]).get('t')
      const done = executor.prepare({ tool: fromConfig(tool), input: {} }).run({})
      return done.then(({ status }) => status, ({ code, message }) => code + ' ' + message)
    }
    ${body}
  `
  const input = { name: 'input', stdin: true }
  const command = `${prefix} ${process.execPath} --input-type=module`
  const { result } = await runTool(
    { command, tool: { args: [input], timeout: 150 } },
    { containment, given: { input: source } },
  )
  expect(result.stderr).toBe('')
  return JSON.parse(result.stdout)
}

const asNobody = 'setpriv --reuid=65534 --regid=65534 --clear-groups'
const needsRoot = needs(process.platform === 'linux' && process.geteuid?.() === 0, 'needs root, to become another user')

describe('fault 65: a machine that is out of something', () => {
  const needsLinux = needs(process.platform === 'linux', 'needs prlimit')

  needsLinux(
    'fault 65: EMFILE with 0, 1, 2... files left: RESOURCES_EXHAUSTED until it works, and nothing else',
    async () => {
      const seen = await inOwnProcess(
        'prlimit --nofile=400:400',
        `const outcomes = []
       for (let spare = 0; spare <= 30; spare++) {
         const open = []
         try { for (;;) open.push(openSync('/dev/null')) } catch {}
         for (const descriptor of open.splice(0, spare)) closeSync(descriptor)
         outcomes.push((await run('true')).split(' ')[0])
         for (const descriptor of open) closeSync(descriptor)
       }
       console.log(JSON.stringify(outcomes))`,
      )
      const outcomes = seen as string[]
      const works = outcomes.indexOf('SUCCESS')
      expect(works).toBeGreaterThan(0)
      expect(new Set(outcomes.slice(0, works))).toEqual(new Set(['RESOURCES_EXHAUSTED']))
      expect(new Set(outcomes.slice(works))).toEqual(new Set(['SUCCESS']))
    },
  )

  containments[0]?.it('fault 65: EMFILE at the first call does not make the next ones less contained', async () => {
    const seen = await inOwnProcess(
      'prlimit --nofile=400:400',
      `import { readlinkSync } from 'node:fs'
       const open = []
       try { for (;;) open.push(openSync('/dev/null')) } catch {}
       await run('true')
       for (const descriptor of open) closeSync(descriptor)
       const own = ToolIndex.fromConfigs([{ command: 'readlink /proc/self/ns/pid', tools: [{ name: 't', description: '' }] }]).get('t')
       const { result } = await executor.prepare({ tool: fromConfig(own), input: {} }).run({})
       console.log(JSON.stringify(result.stdout.trim() !== readlinkSync('/proc/self/ns/pid')))`,
    )
    expect(seen).toBe(true)
  })

  containments[0]?.it(
    'fault 65: a call within a call, where /proc shows the numbers of another namespace, works',
    async () => {
      const body = `console.log(JSON.stringify([await run('true'), await run('false'), await run('no-such-program')]))`
      const seen = await inOwnProcess('env', body, containments[0]?.containment)
      expect(seen).toEqual(['SUCCESS', 'FAILED', expect.stringMatching(/^COMMAND_NOT_FOUND/)])
    },
  )

  // ENOMEM is not here: short of memory, Linux kills a process rather than refuse a fork, and a killed one is above.
  needsRoot('fault 65: EAGAIN, no more processes: RESOURCES_EXHAUSTED', async () => {
    const seen = await inOwnProcess(
      asNobody,
      `spawnSync('prlimit', ['--pid', String(process.pid), '--nproc=1:1'])
       console.log(JSON.stringify(await run('true')))`,
    )
    expect(seen).toMatch(/^RESOURCES_EXHAUSTED .*too many processes/)
  })

  needsRoot(
    'fault 65: EACCES: a folder that may not be entered denies a path, and is passed over in PATH',
    async () => {
      const folder = tempFolder()
      chmodSync(folder, 0o755)
      const closed = join(folder, 'closed')
      mkdirSync(closed, { mode: 0o700 })
      tempScript('hidden', '#!/bin/bash\n', closed)
      const seen = await inOwnProcess(
        `env PATH=${closed}:${process.env.PATH} ${asNobody}`,
        `console.log(JSON.stringify([await run('${closed}/hidden'), await run('hidden'), await run('true')]))`,
      )
      expect(seen).toEqual([
        expect.stringMatching(/^COMMAND_NOT_EXECUTABLE /),
        expect.stringMatching(/^COMMAND_NOT_FOUND /),
        'SUCCESS',
      ])
    },
  )
})
