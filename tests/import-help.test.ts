import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { TooldexError } from '../src/base/errors.ts'
import { silentLogger } from '../src/base/logger.ts'
import type { ArgDef, CliConfig } from '../src/contract/cli-config.ts'
import { importHelp } from '../src/operations/server/import-help.ts'
import { createHelpRunner } from '../src/sources/cli/import-help/create-help-runner.ts'
import { draftConfig } from '../src/sources/cli/import-help/draft-config.ts'
import { parseHelp } from '../src/sources/cli/import-help/parse-help.ts'
import { parseConfig } from '../src/sources/cli/parse-config.ts'
import { runUntilBegun } from './support/run-until-begun.ts'

const folder = mkdtempSync(join(tmpdir(), 'tooldex-import-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A text dedented by its first line, so that it can stand in the test as help stands on a screen. */
function help(text: string): string {
  const lines = text.replace(/^\n/, '').split('\n')
  const indent = /^ */.exec(lines[0] ?? '')?.[0].length ?? 0
  return lines.map((line) => line.slice(indent)).join('\n')
}

const never = () => Promise.reject(new Error('nothing may be run'))

async function draftText(text: string, command = 'demo', subcommands: readonly string[] = []) {
  const draft = await draftConfig({ command, subcommands, max: 20, helpText: text, runHelp: never })
  return { ...draft, config: parseStrict(draft.yaml) }
}

function parseStrict(yaml: string): CliConfig {
  const { config, warnings } = parseConfig(yaml, 'draft', { strict: true })
  expect(warnings).toEqual([])
  return config
}

function argsOf(config: CliConfig, tool = config.tools[0]?.name): Record<string, ArgDef> {
  const found = config.tools.find(({ name }) => name === tool)
  expect(found, `the tool ${tool} among ${config.tools.map(({ name }) => name).join(', ')}`).toBeDefined()
  return Object.fromEntries(found?.args.map((arg) => [arg.name, arg]) ?? [])
}

describe('subcommands', () => {
  const names = (text: string, program: string) => parseHelp(help(text), [program]).subcommands.map(({ name }) => name)

  it('are read from headings, from sections below <command>, from rows with aliases, and from lists', () => {
    expect(
      names(
        '\n  Usage: a COMMAND\n\n  Available Commands:\n    get, g   Get it\n    put*     Put it\n             there\n    help     Help\n',
        'a',
      ),
    ).toEqual(['get', 'put'])
    expect(
      names(
        '\n  usage: b [-v] <command> [<args>]\n\n  start here (see also: b help)\n     clone   Clone it\n     init    Make it\n',
        'b',
      ),
    ).toEqual(['clone', 'init'])
    expect(
      names(
        '\n  c <command>\n\n  All commands:\n\n      access, adduser, audit,\n      bugs, cache\n\n  Specify more in the file:\n      /etc/c\n',
        'c',
      ),
    ).toEqual(['access', 'adduser', 'audit', 'bugs', 'cache'])
    expect(
      names(
        '\n  usage: d [-h] {make,test} ...\n\n  positional arguments:\n    {make,test}\n      make       make it\n      test       test it\n\n  options:\n    -h, --help   help\n',
        'd',
      ),
    ).toEqual(['make', 'test'])
  })

  it('are fetched, a group is left out with a hint, and what has no help of its own is written bare', async () => {
    const root =
      'Usage: hub COMMAND\n\nCommands:\n  ls     List them\n  net    Networks\n  stop UNIT...  Stop some\n  odd    Odd one\n  late   Too late\n'
    const texts: Record<string, string> = {
      'hub --help': root,
      'hub ls --help': 'Usage: hub ls [OPTIONS]\n\nOptions:\n  -a, --all   All of them\n',
      'hub net --help': 'Usage: hub net COMMAND\n\nCommands:\n  add   Add one\n  rm    Remove one\n',
      'hub stop --help': root,
    }
    const progress: string[] = []
    const runHelp = async (argv: readonly string[]) => ({
      stdout: '',
      stderr: texts[argv.join(' ')] ?? 'no',
      exitCode: 2,
    })
    const draft = await draftConfig({
      command: 'hub',
      subcommands: [],
      max: 4,
      runHelp,
      onProgress: ({ command, done, total }) => progress.push(`${command} ${done}/${total}`),
    })
    const config = parseStrict(draft.yaml)
    expect(config.tools.map(({ name, command }) => [name, command])).toEqual([
      ['hub_ls', 'ls'],
      ['hub_stop', 'stop'],
      ['hub_odd', 'odd'],
    ])
    expect(argsOf(config, 'hub_stop').unit).toMatchObject({ positional: true, repeat: true })
    expect(draft.yaml).toContain('left out, a group (add, rm): tooldex import help hub net')
    expect(draft.yaml).toContain('raise --max, or name them): late')
    expect(draft.unsure.filter((line) => line.includes('its own help was not read'))).toHaveLength(2)
    expect(progress).toHaveLength(4)
    const named = await draftConfig({
      command: 'hub',
      subcommands: ['ls', 'net add'],
      max: 4,
      runHelp: async (argv) =>
        argv.includes('add') ? { stdout: 'usage: hub net add NAME', stderr: '', exitCode: 0 } : runHelp(argv),
    })
    expect(parseStrict(named.yaml).tools.map(({ name }) => name)).toEqual(['hub_ls', 'hub_net_add'])
  })

  it('reads the options of ps behind --help all, and leaves out letters without a dash', async () => {
    const texts: Record<string, string> = { 'ps --help': psHelp, 'ps --help all': psHelpAll }
    const asked: string[] = []
    const runHelp = async (argv: readonly string[]) => {
      asked.push(argv.join(' '))
      return { stdout: texts[argv.join(' ')] ?? '', stderr: '', exitCode: 0 }
    }
    const config = parseStrict((await draftConfig({ command: 'ps', subcommands: [], max: 20, runHelp })).yaml)
    expect(asked).toEqual(['ps --help', 'ps --help all'])
    const args = argsOf(config)
    expect(args.a).toMatchObject({ flag: '-a', type: 'boolean', description: 'all with tty, except session leaders' })
    expect(args.deselect).toMatchObject({ flag: '--deselect', type: 'boolean', description: 'negate selection' })
    expect(args.pid).toMatchObject({ flag: '--pid', description: 'process id' })
    expect(args.ppid).toMatchObject({ flag: '--ppid', description: 'parent process id' })
    expect(args.quick_pid).toMatchObject({ flag: '--quick-pid', description: 'process id (quick mode)' })
    expect(args.forest).toMatchObject({ flag: '--forest', type: 'boolean', description: 'ascii art process tree' })
    expect(args.upper_m).toMatchObject({ flag: '-M', description: 'add security data (for SELinux)' })
    expect(args.format).toMatchObject({ flag: '--format', description: 'user-defined format' })
    expect(args.width ?? args.cols).toMatchObject({ type: 'integer', description: 'set screen width' })
    expect(Object.keys(args)).not.toContain('x')
  })

  it('names the commands tried when there is no help', async () => {
    const runHelp = async () => ({ stdout: '', stderr: 'what?', exitCode: 1 })
    const request = { command: 'mute', subcommands: [], max: 20, runHelp }
    await expect(draftConfig(request)).rejects.toMatchObject({
      code: 'HELP_UNREADABLE',
      message: 'No help could be read from mute. Tried: mute --help; mute -h.',
    })
    await expect(draftConfig({ ...request, subcommands: ['x'] })).rejects.toThrow('mute help x')
  })
})

describe('any text', () => {
  const fragment = fc.constantFrom(
    'usage: ',
    'Usage:\n',
    'Options:\n',
    'Commands:\n',
    'Arguments:\n',
    '  -a, --all',
    '  --color[=WHEN]',
    '  -n N',
    ' <x>',
    ' [y',
    '{a,b}',
    '(default: 3)',
    '[default: z]',
    '[possible values: a, a, b]',
    '...',
    '|',
    '  ',
    '\n',
    '\t',
    '\n\n',
    'demo ',
    '-',
    '--',
    '[',
    ']',
    '(',
    '"',
    "'",
    '#',
    ': ',
    '\\',
    '\u001b[1m',
    '\b',
    '\u202e',
    '\ud800',
    '__proto__',
    'constructor',
    '{',
    '=true',
    '=[]:',
    ' or ',
    ', ',
  )
  const helpLike = fc
    .array(fc.oneof(fragment, fc.string({ maxLength: 12 })), { maxLength: 80 })
    .map((parts) => parts.join(''))

  it('gives a config that parses, or HELP_UNREADABLE', async () => {
    const check = async (text: string) => {
      const draft = await draftText(text).catch((error: unknown) => error)
      if (draft instanceof TooldexError) expect(draft.code).toBe('HELP_UNREADABLE')
      else expect((draft as { tools: number }).tools).toBeGreaterThan(0)
    }
    await fc.assert(fc.asyncProperty(fc.oneof(helpLike, fc.string({ unit: 'binary', maxLength: 400 })), check), {
      numRuns: 400,
    })
  })

  it('is read to its end, however it is made', async () => {
    const hostile = ['[', '(', '<a|', '-a ', 'usage: [', '  -a, --', 'A', ' '].map((part) =>
      part.repeat(200_000 / part.length),
    )
    const lines = ['[-a [', '  --a <', '  -a, --b=[', 'usage: x [[[['].map((part) => `${part.repeat(60)}\n`.repeat(300))
    for (const text of [...hostile, ...lines].flatMap((body) => [body, `usage: demo ${body}`])) {
      parseHelp(text, ['demo'])
    }
  })

  it('is quoted where YAML would read something else into it', async () => {
    const { config } = await draftText(
      'usage: demo [--a] [--b]\n\n  --a   - it\'s: "quoted" # and {more\n  --b   @yes: & *no ${HOME} \\n\n',
    )
    expect(argsOf(config).a?.description).toBe('it\'s: "quoted" # and more')
    expect(argsOf(config).b?.description).toBe('@yes: & *no ${HOME} \\n')
  })
})

const context = { logger: silentLogger, caller: { workspace: 'default', actor: 'test' }, scopes: new Set<never>() }
const has = (program: string) => {
  try {
    execFileSync(program, ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

async function importLive(command: string, ...subcommands: string[]) {
  const input = importHelp.input.parse({ command, subcommands })
  const output = importHelp.output.parse(await importHelp.handle(input, context))
  return { ...output, config: parseStrict(output.yaml) }
}

describe('programs on this machine', () => {
  const live = (program: string) => (has(program) ? it : it.skip)
  const title = (program: string, text: string) =>
    has(program) ? text : `${text} [skipped: ${program} is not installed]`

  live('git')(title('git', 'git status, log and commit'), async () => {
    const { config } = await importLive('git', 'status', 'log', 'commit')
    expect(config.tools.map(({ name }) => name)).toEqual(['git_status', 'git_log', 'git_commit'])
    const commit = argsOf(config, 'git_commit')
    expect(commit.message).toMatchObject({ flag: '--message', type: 'string' })
    expect(commit.amend).toMatchObject({ type: 'boolean' })
    expect(commit.pathspec).toMatchObject({ positional: true, repeat: true })
    expect(argsOf(config, 'git_status').short).toMatchObject({ type: 'boolean', flag: '--short' })
    expect(argsOf(config, 'git_status').untracked_files).toMatchObject({ flag: '--untracked-files=' })
    expect(Object.keys(argsOf(config, 'git_log'))).toContain('decorate_refs')
    expect(config.tools.find(({ name }) => name === 'git_commit')?.description).toBe('Record changes to the repository')
  })

  live('git')(title('git', 'git without a subcommand'), async () => {
    const { config, tools } = await importLive('git')
    expect(tools).toBeGreaterThan(10)
    expect(tools).toBeLessThanOrEqual(20)
    expect(config.tools.map(({ name }) => name)).toContain('git_clone')
    expect(argsOf(config, 'git_clone').repo).toMatchObject({ positional: true, required: true })
  })

  live('curl')(title('curl', 'curl, with the options behind --help all'), async () => {
    const args = argsOf((await importLive('curl')).config)
    expect(args.url).toMatchObject({ flag: '--url' })
    expect(args.url_argument).toMatchObject({ positional: true, required: true })
    expect(args.data).toMatchObject({ flag: '--data', type: 'string' })
    expect(args.request).toMatchObject({ flag: '--request', type: 'string' })
    expect(args.head).toMatchObject({ flag: '--head', type: 'boolean' })
    expect(args.max_time).toMatchObject({ type: 'number' })
    expect(args.retry).toMatchObject({ type: 'integer' })
    expect(args.output).toMatchObject({ type: 'path' })
  })

  live('npm')(title('npm', 'npm install'), async () => {
    const args = argsOf((await importLive('npm', 'install')).config)
    expect(args.package_spec).toMatchObject({ positional: true, repeat: true })
    expect(args.omit).toMatchObject({ repeat: true, type: 'string' })
    expect(args.omit?.enum).toContain('dev')
    expect(args.save_exact).toMatchObject({ type: 'boolean', flag: '--save-exact' })
    expect(args.dry_run).toMatchObject({ type: 'boolean' })
  })

  live('cargo')(title('cargo', 'cargo build'), async () => {
    const args = argsOf((await importLive('cargo', 'build')).config)
    expect(args.release).toMatchObject({ type: 'boolean', flag: '--release' })
    expect(args.color).toMatchObject({ enum: ['auto', 'always', 'never'] })
    expect(args.jobs).toMatchObject({ type: 'integer' })
    expect(args.manifest_path).toMatchObject({ type: 'path' })
  })

  live('python3')(title('python3', 'a script with argparse, run from its file'), async () => {
    const file = join(folder, 'mix-it.py')
    const lines = [
      '#!/usr/bin/env python3',
      'import argparse',
      "p = argparse.ArgumentParser(description='Mix things.')",
      "p.add_argument('bowl', help='where to')",
      "p.add_argument('parts', nargs='*')",
      "p.add_argument('--speed', choices=['low', 'high'], default='low', help='how fast (default: %(default)s)')",
      "p.add_argument('--turns', type=int, default=3, help='how often (default: %(default)s)')",
      "p.add_argument('--dry-run', action='store_true')",
      'p.parse_args()',
    ]
    writeFileSync(file, `${lines.join('\n')}\n`)
    chmodSync(file, 0o755)
    const { config, name, unsure } = await importLive(file)
    const args = argsOf(config)
    expect(name).toBe('mix_it')
    expect(config.command).toBe(file)
    expect(config.tools[0]?.description).toBe('Mix things.')
    expect(args.bowl).toMatchObject({ positional: true, required: true, description: 'where to' })
    expect(args.parts).toMatchObject({ positional: true, repeat: true, required: false })
    expect(args.speed).toMatchObject({ enum: ['low', 'high'], type: 'string', flag: '--speed' })
    expect(args.turns).toMatchObject({ type: 'integer' })
    expect(unsure).toContain('mix_it.dry_run: no description found')
  })

  it('ends a program that does not, and one that prints without end; cancels; knows a missing one', async () => {
    const write = (name: string, body: string) => {
      const file = join(folder, name)
      writeFileSync(file, `#!/bin/sh\n${body}\n`)
      chmodSync(file, 0o755)
      return file
    }
    const locate = (word: string) => word
    const slow = write('slow', 'echo "usage: slow [-a]"; sleep 300')
    const flood = write('flood', 'while :; do echo "usage: flood [-a] 0123456789012345678901234567890123456789"; done')
    const { outcome: hung } = await runUntilBegun(
      (seconds) => createHelpRunner({ locate, timeoutMs: 1000 * seconds })([slow, '--help']),
      ({ stdout }) => stdout !== '',
    )
    expect(hung).toMatchObject({ stdout: 'usage: slow [-a]\n', exitCode: null })
    const long = await createHelpRunner({ locate, maxBytes: 10_000 })([flood])
    expect(long.stdout).toHaveLength(10_000)
    const signal = AbortSignal.timeout(100)
    await expect(createHelpRunner({ locate })([slow], signal)).rejects.toMatchObject({ code: 'EXECUTION_CANCELLED' })
    await expect(importLive('no-such-program-here')).rejects.toMatchObject({ code: 'COMMAND_NOT_FOUND' })
    await expect(importLive('"unclosed')).rejects.toMatchObject({ code: 'USAGE' })
    await expect(importLive(write('mute', 'exit 3'))).rejects.toMatchObject({ code: 'HELP_UNREADABLE' })
  })

  it('passes neither stdin, nor our settings, nor a pager to the program', async () => {
    const file = join(folder, 'peek')
    writeFileSync(file, '#!/bin/sh\necho "usage: peek $PAGER $COLUMNS [$TOOLDEX_KEY] $(cat)"\n')
    chmodSync(file, 0o755)
    const run = createHelpRunner({
      locate: (word) => word,
      env: { ...process.env, TOOLDEX_KEY: 'secret', PAGER: 'less' },
    })
    expect((await run([file, '--help'])).stdout).toBe('usage: peek cat 200 [] \n')
  })
})

// As procps-ng 4 prints it, less rows that repeat a shape.
const psHelp = `
Usage:
 ps [options]

 Try 'ps --help <simple|list|output|threads|misc|all>'
  or 'ps --help <s|l|o|t|m|a>'
 for additional help text.

For more details see ps(1).
`
const psHelpAll = `
Usage:
 ps [options]

Basic options:
 -A, -e               all processes
 -a                   all with tty, except session leaders
  a                   all with tty, including other users
 -N, --deselect       negate selection
  x                   processes without controlling ttys

Selection by list:
 -C <command>         command name
 -p, p, --pid <PID>   process id
        --ppid <PID>  parent process id
 -q, q, --quick-pid <PID>
                      process id (quick mode)

  The selection options take as their argument either:
    a comma-separated list e.g. '-u root,nobody' or
    a blank-separated list e.g. '-p 123 4567'

Output formats:
 -f                   full-format, including command lines
  f, --forest         ascii art process tree
 -M, Z                add security data (for SELinux)
 -O <format>          preloaded with default columns
  O <format>          as -O, with BSD personality
 -o, o, --format <format>
                      user-defined format
     --cols, --columns, --width <num>
                      set screen width

Miscellaneous options:
  k,    --sort        specify sort order as: [+|-]key[,[+|-]key[,...]]
 -V, V, --version     display version information and exit

        --help <simple|list|output|threads|misc|all>
                      display help and exit

For more details see ps(1).
`
