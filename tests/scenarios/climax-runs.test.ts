import { readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadPolicy } from '../../src/index.ts'
import { connect } from '../support/connect.ts'
import { needs } from '../support/needs.ts'
import { runUntilBegun } from '../support/run-until-begun.ts'
import { climaxConfigs, hasClimaxConfigs } from '../support/shared-data.ts'
import { tempFile, tempFolder, tempScript } from '../support/temp-folder.ts'
import { load } from './index-fixtures.ts'
import { openTools, setEnv } from './open-tools.ts'

/** A config of one tool `t` that runs a script of this text, or the program given. */
function oneTool(run: { script?: string; command?: string }, rest = ''): string {
  const command = run.command ?? tempScript('program', `#!/bin/sh\n${run.script ?? ''}\n`)
  return `name: one\ncommand: ${JSON.stringify(command)}\ntools:\n  - name: t\n    description: d\n${rest}`
}

const args = (...lines: readonly string[]) => `    args:\n${lines.map((line) => `      - ${line}\n`).join('')}`
const showArgs = 'for word in "$@"; do printf "[%s]" "$word"; done'

describe('the command line of a call', () => {
  const yaml = `
command: prog base
global_args: [{name: vault, flag: "vault=", default: main}]
tools:
  - name: t
    description: d
    command: sub command
    args:
      - {name: flag_one, flag: --one}
      - {name: second, positional: true}
      - {name: first_of_flags, type: integer, default: 3}
      - {name: third, positional: true}
      - {name: inline, flag: "key="}
      - {name: yes, type: boolean, flag: -y}
      - {name: folder, cwd: true}
      - {name: text, stdin: true}
`
  it('A2: is base, tool, positionals, flags, global arguments, each in the order of definition', async () => {
    const values = { inline: 'v w', third: 'c', second: 'b', yes: true, flag_one: 'a', folder: '/tmp', text: 'piped' }
    expect(await openTools(yaml).argv('t', values)).toEqual([
      ...['prog', 'base', 'sub', 'command', 'b', 'c'],
      ...['--one', 'a', '--first-of-flags', '3', 'key=v w', '-y', 'vault=main'],
    ])
  })

  it('A2: leaves out what has neither value nor default, and a boolean that is false', async () => {
    expect(await openTools(yaml).argv('t', { yes: false, first_of_flags: 0 })).toEqual([
      ...['prog', 'base', 'sub', 'command', '--first-of-flags', '0', 'vault=main'],
    ])
  })

  it('A2: honours quotes in commands, and fills variables into the base command', async () => {
    setEnv({ PROGRAM_DIR: '/opt/x', HOME: '/home/ada' })
    const { argv } = openTools(
      'command: $PROGRAM_DIR/bin/${NOPE:-prog}\ntools:\n  - {name: t, description: d, command: run "two words" $HOME}\n',
    )
    expect(await argv('t')).toEqual(['/opt/x/bin/prog', 'run', 'two words', '$HOME'])
    expect(await openTools('command: ~/bin/p\ntools: [{name: t, description: d}]\n').argv('t')).toEqual([
      '/home/ada/bin/p',
    ])
  })

  it('A2: hands every value over as one word that no shell has seen', async () => {
    const { call } = openTools(oneTool({ script: showArgs }, args('{name: v, flag: -v}')))
    for (const value of ['a b', '$(id)', ';id', '*', '`id`', '"', "'", 'two\nlines', '$HOME', '--', 'é🦊']) {
      expect((await call('t', { v: value })).text).toBe(`[-v][${value}]`)
    }
  })

  it('A3.16: a positional may be empty, and one that looks like an option is refused', async () => {
    const { argv, call } = openTools(oneTool({ command: 'echo' }, args('{name: p, positional: true}')))
    expect(await argv('t', { p: '' })).toEqual(['echo', ''])
    expect(await argv('t', { p: '-' })).toEqual(['echo', '-'])
    for (const p of ['-rf', '--output=x', '--']) {
      const answer = await call('t', { p })
      expect(answer).toMatchObject({ isError: true, data: { error: { code: 'INPUT_INVALID' } } })
      expect(answer.text).toContain('would be read as an option')
    }
  })

  it('A3.16: where the program knows the end of options, a dash goes through behind it', async () => {
    const { argv } = openTools(
      oneTool({ command: 'echo' }, `    end_of_options: true\n${args('{name: p, positional: true}', '{name: f}')}`),
    )
    expect(await argv('t', { p: '-rf', f: 'x' })).toEqual(['echo', '--f', 'x', '--', '-rf'])
  })

  it('A3.16: the default of a positional, which the schema shows, is what a call without it runs with', async () => {
    const { argv } = openTools(oneTool({ command: 'ls' }, args('{name: p, positional: true, default: .}')))
    expect(await argv('t')).toEqual(['ls', '.'])
    expect(await argv('t', { p: 'src' })).toEqual(['ls', 'src'])
  })

  it('A3.17: an inline flag that is a boolean is the bare flag', async () => {
    const { argv } = openTools(oneTool({ command: 'x' }, args('{name: k, type: boolean, flag: "k="}')))
    expect(await argv('t', { k: true })).toEqual(['x', 'k='])
    expect(await argv('t', { k: false })).toEqual(['x'])
  })

  it.each([
    ['no default', '{name: g}', []],
    ['an unset variable', '{name: g, default: "$UNSET_HERE"}', []],
    ['a text around an unset variable', '{name: g, default: "pre-$UNSET_HERE"}', []],
    ['an empty default', '{name: g, default: ""}', []],
    ['a set variable', '{name: g, default: "$SET_HERE"}', ['--g', 'value']],
    ['a partly filled text', '{name: g, flag: "g=", default: "$SET_HERE/$UNSET_HERE"}', ['g=value/$UNSET_HERE']],
    ['"true"', '{name: g, type: boolean, default: "true"}', ['--g']],
    ['"True"', '{name: g, type: boolean, default: "True"}', ['--g']],
    ['"1"', '{name: g, type: boolean, default: "1"}', ['--g']],
    ['true', '{name: g, type: boolean, default: true}', ['--g']],
    ['"yes"', '{name: g, type: boolean, default: "yes"}', []],
    ['false', '{name: g, type: boolean, default: false}', []],
  ])('A3.18: a global argument with %s', async (_, global, words) => {
    setEnv({ SET_HERE: 'value', UNSET_HERE: undefined })
    const { argv, search } = openTools(`command: x\nglobal_args:\n  - ${global}\ntools: [{name: t, description: d}]\n`)
    expect(await argv('t')).toEqual(['x', ...words])
    expect(JSON.stringify((await search({ query: 't', level: 'schema' })).data)).not.toContain('"g"')
  })

  needs(hasClimaxConfigs, 'CLImax configs are not here')(
    'A3.18: CLImax\u2019s obsidian takes its vault from the environment',
    async () => {
      setEnv({ OBSIDIAN_VAULT: 'My Notes' })
      const { argv } = openTools(readFileSync(join(climaxConfigs, 'obsidian.yaml'), 'utf8'))
      expect(await argv('obsidian_version')).toEqual(['Obsidian', 'version', 'vault=My Notes'])
      setEnv({ OBSIDIAN_VAULT: undefined })
      expect(await argv('obsidian_version')).toEqual(['Obsidian', 'version'])
    },
  )
})

describe('a policy at work', () => {
  const yaml = `
command: x
global_args: [{name: g, default: "9"}]
tools:
  - name: t
    description: d
    args:
      - {name: c, type: integer, default: 5}
      - {name: s}
`
  const rule = (constraint: string) => `tools:\n  t:\n    args:\n      ${constraint}\n`

  it.each([
    ['c: {max: 3}', { c: 4 }, "Argument 'c': value 4 exceeds maximum 3"],
    ['c: {min: 3}', { c: 2 }, "Argument 'c': value 2 is below minimum 3"],
    ['s: {pattern: "[a-z]+"}', { s: 'v1' }, "Argument 's': value 'v1' does not match pattern '[a-z]+'"],
  ])('A3.19: %s refuses %j: %s', async (constraint, given, message) => {
    const { isError, text, data } = await openTools(yaml, rule(constraint)).call('t', given)
    expect(isError).toBe(true)
    expect(text).toContain(`Policy validation failed:\n  - ${message}`)
    expect(data).toMatchObject({ error: { code: 'POLICY_REFUSED', errors: [{ message }] } })
  })

  it('A3.19: a default and a global argument are bound as well', async () => {
    await expect(openTools(yaml, rule('c: {max: 3}')).argv('t')).rejects.toThrow("'c': value 5 exceeds maximum 3")
    await expect(openTools(yaml, rule('g: {pattern: "[a-z]+"}')).argv('t')).rejects.toThrow(
      "'g': value '9' does not match",
    )
    expect(await openTools(yaml, rule('c: {max: 5}')).argv('t')).toEqual(['x', '--c', '5', '--g', '9'])
  })

  it('A3.19: an absent argument is not checked, and bounds are inclusive', async () => {
    expect(await openTools(yaml, rule('s: {pattern: "[a-z]+"}')).argv('t', { c: 1 })).toEqual([
      'x',
      '--c',
      '1',
      '--g',
      '9',
    ])
    for (const c of [3, 4])
      expect(await openTools(yaml, rule('c: {min: 3, max: 4}')).argv('t', { c })).toContain(String(c))
  })

  it('A3.19: a regular expression that is none is refused when it is loaded', () => {
    expect(() => loadPolicy(tempFile('policy.yaml', rule('s: {pattern: "[a-"}')))).toThrow(
      expect.objectContaining({ code: 'POLICY_INVALID', problems: [expect.objectContaining({ line: 4, column: 20 })] }),
    )
  })
})

describe('how a call ends', () => {
  it('A2: the text is stdout, stderr and the exit code, each where there is something', async () => {
    const run = async (script: string) => (await openTools(oneTool({ script })).call('t')).text
    expect(await run('echo "  out  "')).toBe('out')
    expect(await run('echo out; echo err >&2')).toBe('out\n\n[stderr]\nerr')
    expect(await run('echo out; echo err >&2; exit 3')).toBe('out\n\n[stderr]\nerr\n\n[exit code: 3]')
    expect(await run('exit 1')).toBe('[exit code: 1]')
    expect(await run('true')).toBe('(no output)')
  })

  it('A2: a failure is marked as one', async () => {
    expect(await openTools(oneTool({ script: 'exit 3' })).call('t')).toMatchObject({
      isError: true,
      data: { exitCode: 3, status: 'FAILED', errorCode: 'EXECUTION_FAILED' },
    })
    expect(await openTools(oneTool({ script: 'echo err >&2' })).call('t')).toMatchObject({
      isError: false,
      data: { exitCode: 0 },
    })
  })

  it('A2: a program gets the environment and what the config adds to it', async () => {
    setEnv({ FROM_CALLER: 'caller', ADDED: 'overwritten' })
    const yaml = oneTool({ script: 'echo "$FROM_CALLER $ADDED"' }).replace(
      'tools:',
      'env: {ADDED: "by config"}\ntools:',
    )
    expect((await openTools(yaml).call('t')).text).toBe('caller by config')
  })

  it('A3.20: a timeout keeps the output, is reported, and is an error', async () => {
    const call = async (limit: number) => {
      const slow = oneTool({ script: 'echo so far; sleep 55' }, `    timeout: ${limit}\n`)
      const { client } = await connect([tempFile('slow.yaml', slow)])
      return client.callTool({ name: 'call_tool', arguments: { name: 't' } })
    }
    const hasBegun = ({ structuredContent }: Awaited<ReturnType<typeof call>>) =>
      (structuredContent as { stdout: string }).stdout !== ''
    const { outcome, seconds } = await runUntilBegun(call, hasBegun)
    const timedOut = `Command timed out after ${seconds.toFixed(1)}s`
    expect(outcome).toMatchObject({
      isError: true,
      content: [{ text: `so far\n\n[stderr]\n${timedOut}\n\n[exit code: -1]` }],
      structuredContent: { stdout: 'so far\n', status: 'TIMEOUT', errorCode: 'EXECUTION_TIMEOUT' },
    })
  })

  it('A3.20: no timeout, or one of 0, means 30 seconds', async () => {
    for (const timeout of ['', '    timeout: 0\n', '    timeout:\n']) {
      const { rawCall } = openTools(oneTool({ command: 'true' }, timeout))
      expect((await rawCall({ name: 't', dryRun: true })).data).toMatchObject({ plan: { timeoutMs: 30_000 } })
    }
    const { rawCall } = openTools(oneTool({ command: 'true' }, '    timeout: 0.5\n'))
    expect((await rawCall({ name: 't', dryRun: true })).data).toMatchObject({ plan: { timeoutMs: 500 } })
  })

  it('A3.21: a missing program, a missing folder and a file that is not a program have different errors', async () => {
    const call = async (yaml: string, given = {}) =>
      (await openTools(yaml).call('t', given)) as { text: string; data: Record<string, unknown> }
    const missing = await call(oneTool({ command: 'no-such-program-here' }))
    expect(missing).toMatchObject({ isError: true, data: { status: 'FAILED', errorCode: 'COMMAND_NOT_FOUND' } })
    expect(missing.text).toMatch(/^\[stderr\]\nCommand not found: no-such-program-here.*\n\n\[exit code: -1\]$/)
    const plain = await call(oneTool({ command: tempFile('plain', 'no program') }))
    expect(plain).toMatchObject({ isError: true, data: { errorCode: 'COMMAND_NOT_EXECUTABLE' } })
    const folder = await call(oneTool({ command: 'true' }, args('{name: folder, cwd: true}')), {
      folder: '/no/such/folder',
    })
    expect(folder).toMatchObject({ isError: true, data: { error: { code: 'WORKING_DIR_INVALID' } } })
    expect(folder.text).toContain('/no/such/folder does not exist')
    const nul = await call(oneTool({ command: 'echo' }, args('{name: v}')), { v: 'a\0b' })
    expect(nul).toMatchObject({ isError: true, data: { error: { code: 'INPUT_INVALID' } } })
    expect(() => load('command: ""\ntools: []\n')).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }))
  })

  it('A3.22: a program killed by a signal shows which, as a negative code', async () => {
    const { text, data, isError } = await openTools(oneTool({ script: 'echo before; kill -9 $$' })).call('t')
    expect(isError).toBe(true)
    expect(text).toBe('before\n\n[stderr]\nCommand was killed by SIGKILL\n\n[exit code: -9]')
    expect(data).toMatchObject({ exitCode: null, signal: 'SIGKILL', errorCode: 'KILLED_BY_SIGNAL' })
  })

  it('A3.22: invalid UTF-8 is shown as U+FFFD', async () => {
    const { text } = await openTools(oneTool({ script: "printf 'a\\377b'" })).call('t')
    expect(text).toBe('a\ufffdb')
  })

  it('A3.23: a stdin argument is piped, an empty one is none, and neither it nor the folder is a word', async () => {
    const folder = realpathSync(tempFolder())
    const yaml = oneTool(
      { script: `pwd; cat; ${showArgs}` },
      args('{name: text, stdin: true}', '{name: folder, cwd: true}', '{name: v}'),
    )
    const { call } = openTools(yaml)
    expect((await call('t', { text: 'piped in\n', folder, v: 'x' })).text).toBe(`${folder}\npiped in\n[--v][x]`)
    expect((await call('t', { text: '', folder })).text).toBe(folder)
    expect((await call('t', { folder })).text).toBe(folder)
  })

  it('A3.23: without a folder argument the config\u2019s folder is used', async () => {
    const folder = realpathSync(tempFolder())
    const yaml = oneTool({ script: 'pwd' }, args('{name: folder, cwd: true}')).replace(
      'tools:',
      `working_dir: ${folder}\ntools:`,
    )
    const { call } = openTools(yaml)
    expect((await call('t')).text).toBe(folder)
    expect((await call('t', { folder: '/' })).text).toBe('/')
  })

  it('A3.23: of two arguments for stdin or for the folder the first wins', async () => {
    const folder = realpathSync(tempFolder())
    const piped = openTools(oneTool({ script: 'cat' }, args('{name: a, stdin: true}', '{name: b, stdin: true}')))
    expect((await piped.call('t', { a: 'first', b: 'second' })).text).toBe('first')
    const placed = openTools(oneTool({ script: 'pwd' }, args('{name: a, cwd: true}', '{name: b, cwd: true}')))
    expect((await placed.call('t', { a: folder, b: '/' })).text).toBe(folder)
  })

  needs(hasClimaxConfigs, 'CLImax configs are not here')('A4: CLImax\u2019s coreutils run as they are', async () => {
    const { client } = await connect([join(climaxConfigs, 'coreutils.yaml')])
    const call = async (name: string, given = {}) => {
      const { structuredContent } = await client.callTool({
        name: 'call_tool',
        arguments: { tool_name: name, args: given },
      })
      return (structuredContent as { stdout: string }).stdout
    }
    expect(await call('coreutils_hello')).toBe('hello from CLImax\n')
    expect(await call('coreutils_echo', { message: 'a  b' })).toBe('a  b\n')
    expect(await call('coreutils_echo_flag', { message: 'x', no_newline: true })).toBe('x -n\n')
  })
})
