import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { errorTable } from '../../src/base/errors.ts'
import type { CliConfigInput } from '../../src/contract/cli-config.ts'
import { connect } from '../support/connect.ts'
import { runCli } from '../support/run-cli.ts'
import { tempFile, tempFolder, tempScript } from '../support/temp-folder.ts'
import { containments, runTool } from './run-tool.ts'

type ArgInput = NonNullable<CliConfigInput['tools'][number]['args']>[number]

const printer = () =>
  tempScript('print-argv', '#!/usr/bin/env python3\nimport json, sys\nprint(json.dumps(sys.argv[1:]))\n')

const values = [
  '-rf',
  '--output=x',
  '-',
  '--',
  '@file',
  '',
  'two\nlines',
  '$(id)',
  '`id`',
  ';id',
  '&& id',
  '| id',
  '> /tmp/x',
  '*',
  '?',
  '~',
  '$HOME',
  '"',
  "'",
  '\\',
  'a b',
  '%s',
  '\t',
  'ä€😀',
]
const isOption = (value: string) => value.startsWith('-') && value !== '-'

/** What a program was started with, for one value in one place. */
async function argvOf(args: ArgInput[], given: Record<string, unknown>, endOfOptions = false): Promise<unknown> {
  const { status, result, errorMessage } = await runTool(
    { command: printer(), endOfOptions, tool: { args } },
    { given },
  )
  expect([status, errorMessage]).toEqual(['SUCCESS', null])
  return JSON.parse(result.stdout)
}

describe('fault 65b: values that look like something else', () => {
  for (const { kind, containment, it } of containments) {
    it(`fault 65b (${kind}): each arrives as exactly one word`, async () => {
      const args: ArgInput[] = [{ name: 'words', flag: '--word', repeat: true }]
      const { result } = await runTool(
        { command: printer(), tool: { args } },
        { containment, given: { words: values } },
      )
      expect(JSON.parse(result.stdout)).toEqual(values.flatMap((value) => ['--word', value]))
    })
  }

  it('fault 65b: joined to its flag, each is one word with it', async () => {
    const given = { words: values }
    const argv = await argvOf([{ name: 'words', flag: '--word=', repeat: true }], given)
    expect(argv).toEqual(values.map((value) => `--word=${value}`))
  })

  const positional: ArgInput[] = [{ name: 'word', positional: true }]

  it.each(values.filter((value) => !isOption(value)))(
    'fault 65b: %j in a positional place is one word',
    async (word) => {
      expect(await argvOf(positional, { word })).toEqual([word])
    },
  )

  it.each(values.filter(isOption))('fault 65b: %j in a positional place is refused', async (word) => {
    const call = runTool({ command: printer(), tool: { args: positional } }, { given: { word } })
    await expect(call).rejects.toMatchObject({ code: 'INPUT_INVALID', problems: [{ pointer: '/word' }] })
  })

  it('fault 65b: a separator precedes positionals where the config declares it', async () => {
    const args: ArgInput[] = [
      { name: 'words', type: 'array', positional: true },
      { name: 'flagged', flag: '--flag' },
    ]
    const argv = await argvOf(args, { words: values, flagged: 'x' }, true)
    expect(argv).toEqual(['--flag', 'x', '--', ...values])
    expect(await argvOf(args, { flagged: 'x' }, true)).toEqual(['--flag', 'x'])
  })

  it('fault 65b: a list after one flag cannot smuggle an option in', async () => {
    const args: ArgInput[] = [{ name: 'words', type: 'array', flag: '--words' }]
    const safe = values.filter((value) => !isOption(value))
    expect(await argvOf(args, { words: safe })).toEqual(['--words', ...safe])
    for (const endOfOptions of [false, true]) {
      const call = runTool({ command: printer(), endOfOptions, tool: { args } }, { given: { words: ['a', '-rf'] } })
      await expect(call).rejects.toMatchObject({ code: 'INPUT_INVALID' })
    }
  })

  it('fault 65b: the same through MCP and through the command line', async () => {
    const tool = '{name: t, description: d, args: [{name: word, flag: --word}]}'
    const config = tempFile('print.yaml', `command: ${printer()}\ntools: [${tool}]\n`)
    const { client } = await connect([config])
    for (const word of ['-rf', '$(id)', '', 'two\nlines']) {
      const reply = await client.callTool({ name: 'call_tool', arguments: { name: 't', arguments: { word } } })
      const { stdout } = reply.structuredContent as { stdout: string }
      expect(JSON.parse(stdout)).toEqual(['--word', word])
      const cli = await runCli(['call', '-c', config, '--args', JSON.stringify({ word }), 't'])
      expect(JSON.parse(cli.stdout)).toEqual(['--word', word])
    }
  })
})

describe('a whole number with more digits than are kept', () => {
  it('is refused on the command line, and reaches a tool through MCP as the text that it is', async () => {
    const args = '[{name: count, type: integer, flag: --count}, {name: id, flag: --id}]'
    const config = tempFile('print.yaml', `command: ${printer()}\ntools: [{name: t, description: d, args: ${args}}]\n`)
    const json = await runCli(['call', '-c', config, '--args', '{"count": 9007199254740993}', 't'])
    expect([json.code, json.stderr]).toEqual([
      errorTable.USAGE.exit,
      expect.stringContaining('1:11: the number 9007199254740993 cannot be represented exactly'),
    ])
    const flag = await runCli(['call', '-c', config, 't', '--count', '9007199254740993'])
    expect(flag.code).toBe(errorTable.INPUT_INVALID.exit)
    expect(flag.stderr).toContain("cannot convert '9007199254740993' to integer")
    const hello = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } }
    const initialize = JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params: hello })
    const call = (given: string) =>
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"call_tool","arguments":{"name":"t","arguments":${given}}}}`
    const kept = await runCli(['run', config], { input: `${initialize}\n${call('{"id":9007199254740993}')}\n` })
    expect(kept.stdout).toContain('9007199254740993')
    const refused = await runCli(['run', config], { input: `${initialize}\n${call('{"count":9007199254740993}')}\n` })
    expect(refused.stdout).toContain('INPUT_INVALID')
  })
})

describe('fault 65c: a path that leads out of its root', () => {
  /** A root with something in it, links that lead out of it, and a secret beside it. */
  function layOut(): { root: string; outside: string } {
    const folder = tempFolder()
    const [root, outside] = [join(folder, 'root'), join(folder, 'outside')]
    for (const path of [root, outside, join(root, 'sub'), join(outside, 'sub')]) mkdirSync(path)
    tempFile('inside.txt', 'inside\n', root)
    tempFile('secret.txt', 'secret\n', outside)
    symlinkSync(join(outside, 'secret.txt'), join(root, 'link-to-file'))
    symlinkSync(outside, join(root, 'link-to-folder'))
    symlinkSync(join(outside, 'sub'), join(root, 'link-to-sub'))
    symlinkSync(join(outside, 'not-yet'), join(root, 'link-to-nothing'))
    symlinkSync('link-to-nothing', join(root, 'link-to-link'))
    symlinkSync('inside.txt', join(root, 'link-inside'))
    symlinkSync('loop', join(root, 'loop'))
    return { root, outside }
  }

  const pathArg = (root: string, more: Partial<ArgInput> = {}): ArgInput => ({
    name: 'path',
    type: 'path',
    root,
    positional: true,
    ...more,
  })
  const run = (root: string, path: string) =>
    runTool({ command: 'echo', workingDir: root, tool: { args: [pathArg(root)] } }, { given: { path } })

  it.each<[string, (place: ReturnType<typeof layOut>) => string]>([
    ['..', () => '..'],
    ['../outside/secret.txt', () => '../outside/secret.txt'],
    ['sub/../../outside/secret.txt', () => 'sub/../../outside/secret.txt'],
    ['an absolute path', ({ outside }) => join(outside, 'secret.txt')],
    ['/etc/passwd', () => '/etc/passwd'],
    ['/proc/self/environ', () => '/proc/self/environ'],
    ['a link to a file outside', () => 'link-to-file'],
    ['a path through a link to a folder outside', () => 'link-to-folder/secret.txt'],
    ['a new file through a link to a folder outside', () => 'link-to-folder/new.txt'],
    ['a link to a file outside that is not there yet', () => 'link-to-nothing'],
    ['a link to such a link', () => 'link-to-link'],
    ['such a link with a slash after it', () => 'link-to-nothing/'],
    ['.. after a link, which is where the link leads', () => 'link-to-sub/../secret.txt'],
    ['a loop of links', () => 'loop'],
    ['a NUL', () => 'inside.txt\0'],
    ['a folder that begins as the root does', ({ root }) => `${root}-other/x`],
  ])('fault 65c: %s is refused', async (_, path) => {
    const place = layOut()
    await expect(run(place.root, path(place))).rejects.toMatchObject({
      code: 'INPUT_INVALID',
      problems: [{ pointer: '/path' }],
    })
  })

  it.each<[string, (root: string) => string]>([
    ['a file', () => 'inside.txt'],
    ['an absolute path inside', (root) => join(root, 'inside.txt')],
    ['the root itself', () => '.'],
    ['a way round within it', () => 'sub/../inside.txt'],
    ['a file that is not there yet', () => 'sub/new.txt'],
    ['a folder and a file that are not there yet', () => 'new/new.txt'],
    ['a link within it', () => 'link-inside'],
    ['a name that begins with two dots', () => '..inside'],
  ])('fault 65c: %s is let through as it was given', async (_, path) => {
    const { root } = layOut()
    const { status, result } = await run(root, path(root))
    expect([status, result.stdout]).toEqual(['SUCCESS', `${path(root)}\n`])
  })

  it('fault 65c: each path of a list is checked, after a flag too', async () => {
    const { root } = layOut()
    const list = pathArg(root, { type: 'array', items: 'path', positional: false, flag: '--path', repeat: true })
    const given = { path: ['inside.txt', '../outside/secret.txt'] }
    const call = runTool({ command: 'echo', workingDir: root, tool: { args: [list] } }, { given })
    await expect(call).rejects.toMatchObject({ code: 'INPUT_INVALID' })
  })

  it('fault 65c: the folder to run in is kept inside its root, too', async () => {
    const { root, outside } = layOut()
    const tool = { args: [pathArg(root, { positional: false, cwd: true })] }
    const inside = await runTool({ command: 'pwd', tool }, { given: { path: join(root, 'sub') } })
    expect(inside.result.stdout).toBe(`${join(root, 'sub')}\n`)
    for (const path of [outside, join(root, 'link-to-folder'), join(root, '..'), '/']) {
      await expect(runTool({ command: 'pwd', tool }, { given: { path } })).rejects.toMatchObject({
        code: 'INPUT_INVALID',
      })
    }
  })
})
