import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bundledConfigsDir } from '../src/base/package-info.ts'
import { splitWords } from '../src/base/split-words.ts'
import type { ArgDef, CliConfig, ToolDef } from '../src/contract/cli-config.ts'
import { loadConfigFile } from '../src/sources/cli/index.ts'

// Configs of whoever runs the tests must not stand in for the bundled ones.
const env = { TOOLDEX_HOME: join(tmpdir(), 'no-such-tooldex-home') }
const names = readdirSync(bundledConfigsDir).map((file) => file.replace(/\.yaml$/, ''))
const loaded = new Map(names.map((name) => [name, loadConfigFile(name, { strict: true, advise: true, env })]))
const configs = Array.from(loaded.values(), ({ config }) => config)
const tools = configs.flatMap((config) => config.tools)

const seconds = 1000

// What each config's tool names start with, and its least number of tools.
const expected: Record<string, [string, number]> = {
  claude: ['claude_', 5],
  coreutils: ['coreutils_', 12],
  curl: ['curl_', 8],
  docker: ['docker_', 14],
  find: ['find_', 5],
  gh: ['gh_', 14],
  git: ['git_', 24],
  jq: ['jq_', 5],
  kubectl: ['kubectl_', 16],
  npm: ['npm_', 10],
  obsidian: ['obsidian_', 25],
  ripgrep: ['rg_', 5],
  systemctl: ['systemctl_', 8],
  tar: ['tar_', 4],
}

describe('the bundled configs', () => {
  it('are the documented ones', () => {
    expect(names.sort()).toEqual(Object.keys(expected))
  })

  it.each(names)('%s loads strictly and without warnings', (name) => {
    const { config, warnings } = loaded.get(name) as { config: CliConfig; warnings: readonly unknown[] }
    expect(warnings).toEqual([])
    const [prefix, least] = expected[name] as [string, number]
    expect(config.name).toBe(name)
    expect(config.description).not.toBe('')
    expect(config.category).toMatch(/^[a-z]+$/)
    expect(config.tags.length).toBeGreaterThan(0)
    expect(config.tools.length).toBeGreaterThanOrEqual(least)
    for (const tool of config.tools) expect(tool.name.startsWith(prefix), tool.name).toBe(true)
  })

  it('have unique, plain tool names', () => {
    const all = tools.map((tool) => tool.name)
    expect(all.filter((name, index) => all.indexOf(name) !== index)).toEqual([])
    for (const name of all) expect(name).toMatch(/^[a-z][a-z0-9_]{0,49}$/)
  })

  it('describe every tool and every argument', () => {
    for (const tool of tools) {
      expect(tool.description, tool.name).toMatch(/^[A-Z].{30,}[.]$/)
      expect(tool.description.length, tool.name).toBeLessThan(250)
      for (const arg of tool.args) expect(arg.description, `${tool.name}.${arg.name}`).toMatch(/^\S.+[.]$/)
    }
  })

  it('annotate the effects of each tool', () => {
    for (const { name, annotations } of tools) {
      expect(typeof annotations?.readOnlyHint, name).toBe('boolean')
      expect(typeof annotations?.openWorldHint, name).toBe('boolean')
      expect(annotations?.readOnlyHint && annotations.destructiveHint, name).toBeFalsy()
      if (annotations?.readOnlyHint === false) expect(typeof annotations.destructiveHint, name).toBe('boolean')
    }
  })

  it('give each tool two or three requests in words of their own', () => {
    const requests = tools.flatMap((tool) => tool.exampleRequests)
    expect(requests.filter((text, index) => requests.indexOf(text) !== index)).toEqual([])
    for (const tool of tools) {
      expect([2, 3], tool.name).toContain(tool.exampleRequests.length)
      for (const text of tool.exampleRequests) expect(text, tool.name).not.toContain(tool.name)
    }
  })

  it('write -- by hand only as the very last flag', () => {
    for (const config of configs) {
      for (const tool of config.tools) {
        const flags = tool.args.filter(isFlag)
        const place = flags.findIndex((arg) => arg.flag === '--')
        if (place === -1) continue
        expect(place, tool.name).toBe(flags.length - 1)
        expect(tool.endOfOptions ?? config.endOfOptions, tool.name).toBe(false)
        expect(config.globalArgs, tool.name).toEqual([])
      }
    }
  })
})

describe('the flags of the bundled configs', () => {
  let dir = ''
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'tooldex-configs-'))
    if (has('git')) makeRepository(dir)
  })
  afterAll(() => rmSync(dir, { recursive: true, force: true }))

  const checked = programs().filter(({ program }) => program !== 'find')
  for (const { program, title = program, present = has(program), of, help, accepts } of checked) {
    const reason = present ? '' : ` [skipped: ${title} is not installed]`
    it.skipIf(!present)(`${title}: each one is in its help${reason}`, { timeout: 600 * seconds }, () => {
      const texts = new Map<string, string>()
      const read = (words: readonly string[]) => {
        const key = words.join(' ')
        const text = texts.get(key) ?? help(words).reduce((all, argv) => all + run(dir, argv), '')
        texts.set(key, text)
        return withNegations(text)
      }
      const unknown = of.flatMap((tool) => {
        const text = read(subcommand(tool))
        const missing = flagsOf(tool, program).filter((flag) => !occurs(flag, text))
        return missing.filter((flag) => !accepts?.(tool, flag, dir)).map((flag) => `${tool.name} ${flag}`)
      })
      expect(unknown).toEqual([])
    })
  }

  it.skipIf(!has('find'))('find: each one is taken', () => {
    const samples: Record<string, string> = {
      '-maxdepth': '1',
      '-mindepth': '0',
      '-name': '*',
      '-iname': '*',
      '-path': '*',
      '-regex': '.*',
      '-type': 'f',
      '-xtype': 'l',
      '-size': '-4k',
      '-mtime': '-1',
      '-mmin': '-1',
      '-newer': '.',
      '-user': '0',
      '-group': '0',
      '-perm': '-u+r',
    }
    const empty = mkdtempSync(join(dir, 'empty-'))
    const flags = toolsOf('find').flatMap((tool) => tool.args.filter(isFlag))
    expect(flags.length).toBeGreaterThan(20)
    for (const arg of flags) {
      const value = arg.type === 'boolean' ? [] : [samples[arg.flag ?? ''] ?? 'no sample']
      const { status, stderr } = spawnSync('find', [empty, arg.flag ?? '', ...value], { encoding: 'utf8' })
      expect({ flag: arg.flag, status, stderr }).toEqual({ flag: arg.flag, status: 0, stderr: '' })
    }
  })
})

/** A program, the tools made of it, and where its help is. */
interface Program {
  readonly program: string
  readonly title?: string
  readonly present?: boolean
  readonly of: readonly ToolDef[]
  /** The commands that print the help about a subcommand. */
  help(words: readonly string[]): readonly (readonly string[])[]
  /** Whether the program takes a flag that its help is silent about. */
  accepts?(tool: ToolDef, flag: string, dir: string): boolean
}

function programs(): readonly Program[] {
  const compose = (tool: ToolDef) => tool.command.startsWith('compose ')
  const docker = { program: 'docker', help: (words: readonly string[]) => [['docker', ...words, '--help']] }
  return [
    {
      program: 'git',
      of: toolsOf('git'),
      help: (words) => [
        ['git', '-h'],
        ['git', ...words, '-h'],
        ['git', ...words, '--git-completion-helper-all'],
      ],
      accepts: (tool, flag, dir) =>
        tool.annotations?.readOnlyHint === true && gitTakes(dir, [...subcommand(tool), ...withSample(tool, flag)]),
    },
    { ...docker, of: toolsOf('docker').filter((tool) => !compose(tool)) },
    {
      ...docker,
      title: 'docker compose',
      present: has('docker') && spawnSync('docker', ['compose', 'version']).status === 0,
      of: toolsOf('docker').filter(compose),
    },
    {
      program: 'kubectl',
      of: toolsOf('kubectl'),
      help: (words) => [
        ['kubectl', ...words, '--help'],
        ['kubectl', 'options'],
      ],
    },
    { program: 'gh', of: toolsOf('gh'), help: (words) => [['gh', ...words, '--help']] },
    {
      program: 'npm',
      of: toolsOf('npm'),
      help: (words) => [['npm', words[0] ?? '', '--help']],
      // Taken by these commands, but only the manual says so.
      accepts: ({ name }, flag) =>
        flag === '--silent' || ['npm_scripts --json', 'npm_version --message'].includes(`${name} ${flag}`),
    },
    { program: 'claude', of: toolsOf('claude'), help: () => [['claude', '--help']] },
    { program: 'obsidian', of: toolsOf('obsidian'), help: () => [['obsidian', 'help']] },
    { program: 'jq', of: toolsOf('jq'), help: () => [['jq', '--help']] },
    { program: 'rg', title: 'ripgrep', of: toolsOf('ripgrep'), help: () => [['rg', '--help']] },
    { program: 'curl', of: toolsOf('curl'), help: () => [['curl', '--help', 'all']] },
    { program: 'systemctl', of: toolsOf('systemctl'), help: () => [['systemctl', '--help']] },
    { program: 'env', title: 'coreutils', of: toolsOf('coreutils'), help: (words) => [[...words, '--help']] },
    { program: 'tar', of: toolsOf('tar'), help: () => [['tar', '--help']] },
    { program: 'find', of: toolsOf('find'), help: () => [] },
  ]
}

function toolsOf(name: string): readonly ToolDef[] {
  return configs.find((config) => config.name === name)?.tools ?? []
}

function isFlag(arg: ArgDef): boolean {
  return arg.positional === false && !arg.cwd && !arg.stdin
}

/** The words of a tool's command before its first flag. */
function subcommand(tool: ToolDef): readonly string[] {
  const words = splitWords(tool.command)
  const first = words.findIndex((word) => word.startsWith('-'))
  return first === -1 ? words : words.slice(0, first)
}

/** All flags that calls of a tool can have: those of its arguments and those its commands fix. */
function flagsOf(tool: ToolDef, program: string): readonly string[] {
  const base = configs.find((config) => config.tools.includes(tool))?.command ?? program
  const fixed = [...splitWords(base), ...splitWords(tool.command)].filter((word) => /^-{1,2}[A-Za-z]/.test(word))
  const given = tool.args.filter(isFlag).map((arg) => arg.flag ?? `--${arg.name.replaceAll('_', '-')}`)
  const flags = [...fixed, ...given].map((flag) => flag.replace(/=.*$/, ''))
  return [...new Set(flags)].filter((flag) => flag !== '--')
}

/** Whether a flag stands in a help text as a word of its own. */
function occurs(flag: string, text: string): boolean {
  const at = text.indexOf(flag)
  if (at === -1) return false
  const [before = ' ', after = ' '] = [text[at - 1], text[at + flag.length]]
  return (!/[\w-]/.test(before) && !/[\w-]/.test(after)) || occurs(flag, text.slice(at + flag.length))
}

/** Help that writes `--[no-]flag` means two flags. */
function withNegations(text: string): string {
  return text.includes('--[no-]') ? `${text.replaceAll('--[no-]', '--')}\n${text.replaceAll('--[no-]', '--no-')}` : text
}

/** A flag with a value where it needs one, joined or apart as the config has it. */
function withSample(tool: ToolDef, flag: string): readonly string[] {
  const arg = tool.args.find((item) => item.flag?.replace(/=$/, '') === flag)
  if (arg === undefined || arg.type === 'boolean') return [flag]
  return arg.flag?.endsWith('=') ? [`${flag}=1`] : [flag, '1']
}

/** Whether git takes these words; rev-parse prints the flags it does not know. */
function gitTakes(dir: string, words: readonly string[]): boolean {
  const text = run(dir, ['git', '--no-pager', ...words])
  if (text.split('\n').some((line) => words.includes(line))) return false
  return !/unrecognized|unknown (option|switch)|invalid option|usage:/.test(text)
}

/** A repository with one commit and one entry on the stash. */
function makeRepository(dir: string): void {
  const git = ['git', '-c', 'user.name=Test', '-c', 'user.email=test@example.com']
  run(dir, [...git, 'init', '--quiet'])
  writeFileSync(join(dir, 'file.txt'), 'one\n')
  run(dir, [...git, 'add', 'file.txt'])
  run(dir, [...git, 'commit', '--quiet', '--message=Start'])
  writeFileSync(join(dir, 'file.txt'), 'two\n')
  run(dir, [...git, 'stash', 'push'])
}

/** What a command prints, on either stream. */
function run(cwd: string, [program = '', ...args]: readonly string[]): string {
  const { stdout, stderr } = spawnSync(program, args, { cwd, encoding: 'utf8', timeout: 60 * seconds })
  return `${stdout ?? ''}\n${stderr ?? ''}`
}

function has(program: string): boolean {
  return spawnSync(program, ['--version'], { stdio: 'ignore', timeout: 60 * seconds }).error === undefined
}
