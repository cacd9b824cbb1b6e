import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { errorTable } from '../src/index.ts'
import { commandTable } from '../src/surfaces/cli/command-table.ts'
import type { CliHost } from '../src/surfaces/cli/index.ts'
import { runCli } from './support/run-cli.ts'
import { runInline } from './support/run-here.ts'
import { runInProcess } from './support/run-in-process.ts'
import { tempFile, tempFolder } from './support/temp-folder.ts'

const json = (text: string) => JSON.parse(text)

describe('tooldex in the terminal', () => {
  it('prints help and version', async () => {
    const help = await runCli(['--help'])
    expect(help.code).toBe(0)
    const visible = Object.entries(commandTable).filter(([, { hidden }]) => hidden !== true)
    const [, listed = ''] = help.stdout.split('Commands:\n')
    const names = [...listed.matchAll(/^ {2}(\w+)/gm)].map(([, name]) => name).slice(0, visible.length + 1)
    expect(names).toEqual([...visible.map(([name]) => name), 'help'])
    expect((await runInProcess(['help'], { version: '0' })).out).toBe(help.stdout)
    expect((await runCli(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
  })

  it.each(Object.entries(commandTable))('describes %s in its own help as in the list', async (name, { summary }) => {
    const { code, out } = await runInProcess(['help', name])
    expect(code).toBe(0)
    expect(out).toContain(`Usage: tooldex ${name}`)
    expect(out.replaceAll(/\s+/g, ' ')).toContain(summary)
  })

  it('ends with the usage code for what it does not know', async () => {
    const { code, stderr } = await runInline(['list', '--nonsense'])
    expect(code).toBe(errorTable.USAGE.exit)
    expect(stderr).toContain('--nonsense')
  })

  it.each([
    [['search', 'x', '-c', 'git', '--limit', '9999'], "--limit '9999'", 'at most 100'],
    [['search', 'x', '-c', 'git', '--source', 'cli', '--source', 'bar'], "--source 'bar'", 'cli, registry'],
  ])('names the option, its value and the accepted values of %j', async (words, named, accepted) => {
    const { code, err } = await runInProcess(words)
    expect(code).toBe(errorTable.INPUT_INVALID.exit)
    expect(err.slice(err.indexOf('next:'))).toContain(`Correct ${named}`)
    expect(err).toContain(accepted)
  })

  it('takes a word that is nearly a command for that command, unless it is a config', async () => {
    const typo = await runInline(['serch', 'undo a commit'])
    expect(typo.code).toBe(errorTable.USAGE.exit)
    expect(typo.stderr).toContain("There is no command or config 'serch'. Did you mean 'search'?")
    expect((await runInline(['gti'])).stderr).toContain("There is no command or config 'gti'. Did you mean 'git'?")
    const unlike = await runInline(['nothing_like_it'])
    expect(unlike.code).toBe(errorTable.CONFIG_NOT_FOUND.exit)
    expect(unlike.stderr).toContain("There is no command or config 'nothing_like_it'.")
    const home = tempFolder()
    const text = 'name: serch\ncommand: echo\ntools:\n  - { name: serch_hi, description: d }\n'
    tempFile('serch', text, home)
    expect(await runCli(['serch'], { cwd: home })).toMatchObject({ code: 0, stderr: '' })
    tempFile('configs/lst.yaml', text, home)
    expect(await runCli(['lst'], { env: { TOOLDEX_HOME: home } })).toMatchObject({ code: 0, stderr: '' })
  })

  it('prints the help for a bare word in a terminal; a client without tools to serve gets an error and a clean stdout', async () => {
    const typed = await runInProcess([], { interactive: true })
    expect(typed).toMatchObject({ code: 0, err: '' })
    expect(typed.out).toContain('Usage: tooldex')
    const env = { TOOLDEX_HOME: tempFolder(), TOOLDEX_URL: '', DATABASE_URL: '' }
    const started = await runCli([], { env })
    expect(started).toMatchObject({ code: errorTable.USAGE.exit, stdout: '' })
    expect(started.stderr).toContain('There are no tools to serve')
  })

  it('lists configs by name, and the tools of some', async () => {
    expect((await runInline(['list'])).stdout.split('\n')).toEqual(
      expect.arrayContaining(['git', 'docker', 'coreutils']),
    )
    const { stdout } = await runInline(['list', 'git'])
    expect(stdout).toMatch(/^git - \d+ tool\(s\)/)
    expect(stdout).toMatch(/git_commit/)
    const tools = json((await runInline(['list', 'git', '--json'])).stdout).tools
    expect(tools.map((tool: { name: string }) => tool.name)).toEqual(
      tools.map((tool: { name: string }) => tool.name).toSorted(),
    )
  })

  it('validates: every problem with its place, exit code by the table', async () => {
    const bad = tempFile('bad.yaml', 'command: ""\nenv: { PORT: 80 }\ntools:\n  - { nam: x, description: 5 }\n')
    const { code, stdout } = await runInline(['validate', 'git', bad])
    expect(code).toBe(errorTable.CONFIG_INVALID.exit)
    expect(stdout).toContain(`${bad}:1:10: command must name a program`)
    expect(stdout).toContain(`${bad}:2:14: env.PORT must be a string, not a number (put it in quotes: "80")`)
    expect(stdout).toContain(`${bad}:4:5: tools[0].name is required`)
    expect(stdout).toContain(`${bad}:4:7: unknown key 'nam'. Did you mean 'name'?`)
    expect(stdout).toContain('1 valid, 1 invalid')
  })

  it('turns unknown keys into errors under --strict', async () => {
    const file = tempFile('odd.yaml', 'command: echo\nextra: 1\ntools: []\n')
    expect((await runInline(['validate', file])).code).toBe(0)
    expect((await runInline(['validate', '--strict', file])).code).toBe(3)
  })

  it('searches and describes, for people and for programs', async () => {
    const table = await runInline(['search', 'commit', 'changes', '--limit', '3'])
    expect(table.stdout).toContain('git_commit')
    const found = json((await runInline(['search', 'git commit', '--json'])).stdout)
    expect(found.results[0].name).toBe('git_commit')
    const doc = json((await runInline(['describe', 'git_commit', '--json'])).stdout).tools[0]
    expect(doc).toMatchObject({ id: 'git:git_commit', schemaInfo: { required: ['message'] } })
  })

  it('calls with flags made from the schema', async () => {
    const args =
      '[{ name: words, positional: true, repeat: true }, { name: max_count, type: integer, flag: "-n" }, { name: quiet, type: boolean }]'
    const file = tempFile('say.yaml', `command: echo\ntools:\n  - { name: say, description: Say it, args: ${args} }\n`)
    const said = await runCli(['call', '-c', file, 'say', 'one', 'two', '--max-count', '3', '--quiet'])
    expect(said).toMatchObject({ code: 0, stdout: 'one two -n 3 --quiet\n' })
    const dry = await runCli(['call', '-c', file, 'say', '--words', 'a b', '--dry-run'])
    expect(dry.stdout).toContain("echo 'a b'")
    const help = await runCli(['call', '-c', file, 'say', '--help'])
    expect(help.stdout).toContain('--max-count <integer>')
    const wrong = await runCli(['call', '-c', file, 'say', '--max-cuont', '3'])
    expect(wrong).toMatchObject({ code: errorTable.USAGE.exit })
    expect(wrong.stderr).toContain("Did you mean 'max-count'?")
    const viaJson = await runCli(['call', '-c', file, '--args', '{"max_count": "x"}', 'say', '--json'])
    expect(viaJson.code).toBe(errorTable.INPUT_INVALID.exit)
  })

  it('never runs a dry run, even where a tool has an argument dry_run', async () => {
    const args = '[{ name: dry_run, type: boolean }, { name: word, positional: true }]'
    const file = tempFile('dry.yaml', `command: echo\ntools:\n  - { name: dry, description: d, args: ${args} }\n`)
    const shown = await runCli(['call', '-c', file, 'dry', 'x', '--dry-run', '--json'])
    expect(JSON.parse(shown.stdout)).toMatchObject({ plan: { argv: ['echo', 'x'] } })
    expect((await runCli(['call', '-c', file, 'dry', 'x', '--dry_run'])).stdout).toBe('x --dry-run\n')
    expect((await runCli(['call', 'coreutils_echo', 'x', '--policy', 'p.yaml'])).stderr).toContain(
      'The policy file p.yaml does not exist.',
    )
  })

  it('refuses a policy with a key that means nothing', async () => {
    const policy = tempFile(
      'policy.yaml',
      'default: enabled\ntools:\n  git_add: { args: { paths: { patern: "src/.*" } } }\n',
    )
    const { code, stderr } = await runInline(['list', 'git', '--policy', policy])
    expect(code).toBe(errorTable.POLICY_INVALID.exit)
    expect(stderr).toContain("Did you mean 'pattern'?")
    expect((await runInline(['list', 'git', '--policy', '/no/such/policy.yaml'])).stderr).toContain('policy file')
  })

  it('passes on how a command ended', async () => {
    const file = tempFile(
      'end.yaml',
      'command: sh\ntools:\n  - { name: end, description: d, command: "-c \'echo out; echo err >&2; exit 7\'" }\n',
    )
    const ended = await runCli(['call', '-c', file, 'end'])
    expect(ended).toMatchObject({ code: errorTable.EXECUTION_FAILED.exit, stdout: 'out\n' })
    expect(ended.stderr).toBe('err\nCommand failed with exit code 7\n')
    const asJson = json((await runCli(['call', '-c', file, 'end', '--json'])).stdout)
    expect(asJson.outcome).toMatchObject({ status: 'FAILED', errorCode: 'EXECUTION_FAILED', result: { exitCode: 7 } })
  })

  it('reports errors as JSON with --json', async () => {
    const { code, stdout } = await runInline(['describe', 'nothing_like_it', '--json'])
    expect(code).toBe(errorTable.TOOL_NOT_FOUND.exit)
    expect(json(stdout).error).toMatchObject({ code: 'TOOL_NOT_FOUND', retryable: false })
    expect((await runInline(['list', 'gti'])).stderr).toContain("Did you mean 'git'?")
  })

  it('describes what it knows, and names the rest on stderr', async () => {
    const some = await runInline(['describe', '-c', 'git', 'git_lgo', 'git_log', 'zzqx'])
    expect(some.code).toBe(0)
    expect(some.stdout).toMatch(/^git_log /)
    expect(some.stderr).toContain("Unknown tool: git_lgo. Did you mean 'git_log'")
    expect(some.stderr).toContain('Unknown tool: zzqx. Find the right name with: tooldex search')
    const none = await runInline(['describe', '-c', 'git', 'git_lgo', 'zzqx'])
    expect(none).toMatchObject({ code: errorTable.TOOL_NOT_FOUND.exit, stdout: '' })
    expect(none.stderr).toContain('Unknown tools: git_lgo, zzqx.')
    expect(none.stderr).toContain("git_lgo: Did you mean 'git_log'")
  })

  it('names commands in its hints, not the tools of MCP', async () => {
    for (const command of ['describe', 'call']) {
      const { stderr } = await runInline([command, '-c', 'git', 'zzqx'])
      expect(stderr).toContain('next: Find the right name with: tooldex search')
      expect(stderr).not.toContain('search_tools')
    }
  })

  it('prints and installs the skill', async () => {
    const cwd = tempFolder()
    expect((await runInline(['skill'])).stdout).toContain('name: tooldex-config')
    expect(existsSync((await runInline(['skill', '--path'])).stdout.trim())).toBe(true)
    await runInline(['skill', '--install'], { cwd })
    expect(readFileSync(join(cwd, '.claude/skills/tooldex-config/SKILL.md'), 'utf8')).toContain('tooldex-config')
  })

  it('diagnoses the installation', async () => {
    const { checks, ok } = json((await runInline(['doctor', '--json'], { env: { TOOLDEX_HOME: tempFolder() } })).stdout)
    expect(ok).toBe(true)
    expect(checks.map((check: { name: string }) => check.name)).toEqual(
      expect.arrayContaining(['node', 'containment', 'config git']),
    )
  })

  it('completes commands, configs, tools and their flags', async () => {
    const complete = async (...words: string[]) =>
      (await runInline(['__complete', '--', ...words])).stdout.trim().split('\n')
    expect(await complete('va')).toEqual(['validate'])
    expect(await complete('run', 'dock')).toEqual(['docker'])
    expect(await complete('call', 'git_commi')).toContain('git_commit')
    expect(await complete('call', 'git_commit', '--mess')).toEqual(['--message'])
    expect(await complete('install', 'cur')).toEqual(['cursor'])
    for (const shell of ['bash', 'zsh', 'fish'])
      expect((await runInline(['completion', shell])).stdout).toContain('__complete')
  })

  it('reads a bare list of configs as run, whatever options stand before', async () => {
    const configsOf = async (...words: string[]) => {
      let configs: readonly string[] | undefined
      const runStdio: CliHost['runStdio'] = async (options) => {
        configs = options.configs
      }
      await runInProcess(words, { runStdio, configNames: () => ['git', 'docker'] })
      return configs
    }
    expect(await configsOf('git', 'docker')).toEqual(['git', 'docker'])
    expect(await configsOf('--policy', 'list', 'git')).toEqual(['git'])
    expect(await configsOf('--max-output', '1M', '--classic', 'git')).toEqual(['git'])
    expect(await configsOf('--server', 'http://127.0.0.1:7331')).toEqual([])
    expect(await configsOf('list', 'git')).toBeUndefined()
    expect(await configsOf('--help')).toBeUndefined()
  })

  it('finds configs of the user by bare name, before bundled ones', async () => {
    const home = tempFolder()
    tempFile(
      'configs/mine.yaml',
      'name: mine\ncommand: echo\ntools:\n  - { name: mine_hi, description: d, command: hi }\n',
      home,
    )
    const env = { TOOLDEX_HOME: home }
    expect((await runInline(['list'], { env })).stdout.split('\n')).toContain('mine')
    expect((await runCli(['call', 'mine_hi'], { env })).stdout).toBe('hi\n')
    tempFile('configs/notes.yaml', 'name: my_notes\ncommand: echo\ntools: []\n', home)
    tempFile('configs/broken.yaml', 'name: broken\n  command: echo\n', home)
    const { code, stdout, stderr } = await runCli(['list'], { env })
    expect([code, stdout.split('\n')]).toEqual([0, expect.arrayContaining(['git', 'mine', 'notes (my_notes)'])])
    expect(stdout).not.toContain('broken')
    expect(stderr).toContain('broken.yaml')
  })
})
