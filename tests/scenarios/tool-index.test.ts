import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { type CliConfigInput, type CliSummary, loadConfig, ToolIndex, type ToolIndexEntry } from '../../src/index.ts'
import { needs } from '../support/needs.ts'
import { climaxConfigFiles, hasClimaxConfigs } from '../support/shared-data.ts'
import { gitYaml, indexOf, load, many, named, names, plainYaml, three, unlimited } from './index-fixtures.ts'

describe('user story 1: metadata in YAML', () => {
  it('US1.1: a config has the category and tags it was given', () => {
    const config = load('command: git\ncategory: "vcs"\ntags: ["version-control", "commits"]\ntools: []\n')
    expect(config).toMatchObject({ category: 'vcs', tags: ['version-control', 'commits'] })
  })

  it('US1.2: a config without them loads with null and []', () => {
    expect(load(plainYaml)).toMatchObject({ category: null, tags: [] })
  })

  it('US1.3: a config with a category only has no tags', () => {
    expect(load('command: git\ncategory: vcs\ntools: []\n')).toMatchObject({ category: 'vcs', tags: [] })
  })
})

describe('user story 2: search', () => {
  it('US2.1: "commit" finds it in names, descriptions and tags, with the full schema', () => {
    const found = three().search({ query: 'commit' })
    // All of git have the tag "commits"; of docker one has it in its name.
    expect(names(found)).toEqual(['git_status', 'git_log', 'git_branch', 'git_commit', 'git_add', 'docker_commit'])
    for (const entry of found)
      expect(entry.inputSchema).toMatchObject({ type: 'object', properties: expect.any(Object) })
    expect(found[1]?.inputSchema).toEqual({
      type: 'object',
      properties: {
        max_count: { type: 'integer', description: 'At most this many', default: 10 },
        order: { type: 'string', enum: ['date', 'topo'] },
        revision: { type: 'string' },
      },
      required: ['revision'],
    })
  })

  it('US2.2: a limit of 5 gives at most 5 of more than 50', () => {
    const index = ToolIndex.fromConfigs([many(60)])
    expect(index.search({ query: 'status', limit: 5 })).toHaveLength(5)
    expect(index.search({ query: 'status', limit: unlimited })).toHaveLength(60)
  })

  it('US2.3: case does not matter', () => {
    const index = three()
    expect(index.search({ query: 'COMMIT' })).toEqual(index.search({ query: 'commit' }))
    expect(index.search({ query: 'cOmMiT' })).toHaveLength(6)
    expect(names(index.search({ query: 'LIST BRANCHES' }))).toEqual(['git_branch'])
  })

  it('US2.4: a category gives its tools only', () => {
    const found = three().search({ category: 'vcs' })
    expect(names(found)).toEqual(['git_status', 'git_log', 'git_branch', 'git_commit', 'git_add'])
  })

  it('US2.5: a cli gives its tools only', () => {
    expect(
      three()
        .search({ cli: 'git-tools' })
        .every((entry) => entry.cliName === 'git-tools'),
    ).toBe(true)
    expect(names(three().search({ cli: 'plain' }))).toEqual(['say'])
  })

  it('US2.6: query and category must both match', () => {
    expect(names(three().search({ query: 'branch' }))).toEqual(['git_branch', 'docker_branch'])
    expect(names(three().search({ query: 'branch', category: 'vcs' }))).toEqual(['git_branch'])
  })
})

describe('user story 3: overview', () => {
  it('US3.1: one entry a config, with name, description, tool count, category and tags', () => {
    const index = ToolIndex.fromConfigs(
      [
        { ...many(5), name: 'git', description: 'Git', category: 'vcs', tags: ['a', 'b'] },
        { ...many(8), name: 'docker', category: 'containers' },
        { ...many(3), name: 'obsidian', tags: ['notes'] },
      ].map((config) => ({
        ...config,
        tools: config.tools.map((tool) => ({ ...tool, name: `${config.name}_${tool.name}` })),
      })),
    )
    expect(index.summary()).toEqual([
      { name: 'git', description: 'Git', toolCount: 5, category: 'vcs', tags: ['a', 'b'] },
      { name: 'docker', description: '', toolCount: 8, category: 'containers', tags: [] },
      { name: 'obsidian', description: '', toolCount: 3, category: null, tags: ['notes'] },
    ])
  })

  it('US3.2: a config without category and tags shows null and []', () => {
    expect(three().summary()[2]).toEqual({ name: 'plain', description: '', toolCount: 1, category: null, tags: [] })
  })
})

describe('user story 4: exact lookup', () => {
  it('US4.1: a tool comes with its definition, base command, env and working folder', () => {
    expect(three().get('git_log')).toMatchObject({
      tool: {
        name: 'git_log',
        description: 'The history of commits',
        command: 'log',
        timeout: 20,
        args: [
          { name: 'max_count', type: 'integer', default: 10, flag: '-n', required: false },
          { name: 'order', flag: '--order=', enum: ['date', 'topo'] },
          { name: 'revision', required: true, positional: true },
        ],
      },
      baseCommand: 'git',
      env: { GIT_PAGER: 'cat' },
      workingDir: '/tmp',
      globalArgs: [{ name: 'no_pager', flag: '--no-pager', default: true }],
      descriptionOverride: null,
      argConstraints: {},
    })
    expect(three().get('say')).toMatchObject({ baseCommand: 'echo', env: {}, workingDir: null, globalArgs: [] })
  })

  it('US4.2: an unknown name gives null', () => {
    const index = three()
    for (const name of ['nonexistent_tool', '', 'GIT_LOG', 'git_lo', 'toString', '__proto__'])
      expect(index.get(name)).toBeNull()
  })
})

describe('edge cases', () => {
  it('edge: of two tools with one name the last wins, with a warning', () => {
    const told: string[] = []
    const onDuplicate = (tool: string, cli: string) => told.push(`${tool} of ${cli}`)
    const index = ToolIndex.fromConfigs([named('one', 't1', 't2'), named('two', 't3', 't1')], { onDuplicate })
    expect(names(index.search())).toEqual(['t2', 't3', 't1'])
    expect(index.search({ query: 't1' })).toMatchObject([{ cliName: 'two', description: 'of two' }])
    expect(index.get('t1')?.tool.description).toBe('of two')
    expect(told).toEqual(['t1 of two'])
  })

  it('edge: a duplicate is warned of without a listener too', () => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    onTestFinished(() => warn.mockRestore())
    ToolIndex.fromConfigs([named('one', 't1', 't1')])
    expect(warn).toHaveBeenCalledExactlyOnceWith(expect.stringContaining("'t1'"))
  })

  it('edge: without any parameter the first tools come, as many as the limit', () => {
    const index = ToolIndex.fromConfigs([many(30)])
    const first = Array.from({ length: 10 }, (_, position) => `tool_${position}`)
    expect(names(index.search())).toEqual(first)
    expect(names(index.search({ query: null, category: null, cli: null }))).toEqual(first)
    expect(names(index.search({ query: '', category: '', cli: '' }))).toEqual(first)
    expect(index.search({ limit: 20 })).toHaveLength(20)
  })

  it('edge: no match gives an empty list', () => {
    expect(three().search({ query: 'weather' })).toEqual([])
    expect(three().search({ category: 'weather' })).toEqual([])
    expect(three().search({ cli: 'weather' })).toEqual([])
    expect(ToolIndex.fromConfigs([]).search()).toEqual([])
    expect(ToolIndex.fromConfigs([]).summary()).toEqual([])
  })

  it('edge: a limit of 0, below 0 or no number gives an empty list', () => {
    for (const limit of [0, -1, Number.NaN, Number.NEGATIVE_INFINITY]) expect(three().search({ limit })).toEqual([])
  })

  it('edge: a very long query works', () => {
    const long = 'long '.repeat(20_000)
    const config: CliConfigInput = {
      command: 'x',
      tools: [
        { name: 'a', description: 'short' },
        { name: 'b', description: `${long}end` },
      ],
    }
    const index = ToolIndex.fromConfigs([config])
    expect(names(index.search({ query: long }))).toEqual(['b'])
    expect(index.search({ query: `${long}${long}` })).toEqual([])
  })

  it('edge: special characters of regular expressions are literal', () => {
    const index = three()
    expect(names(index.search({ query: '(a.b*c)' }))).toEqual(['say'])
    for (const query of ['(a.b.c)', '.*', 'axb', '[a-z]', '^say', 'say$', '\\w', '[', 'a|b']) {
      expect(index.search({ query })).toEqual([])
    }
  })
})

describe('success criteria', () => {
  needs(hasClimaxConfigs, 'CLImax configs are not here')('SC-001: every existing config loads unchanged', () => {
    const configs = climaxConfigFiles().map((file) => loadConfig(file))
    expect(configs.map((config) => [config.name, config.tools.length])).toEqual([
      ['claude-tools', 4],
      ['coreutils', 3],
      ['docker-tools', 5],
      ['git-tools', 6],
      ['obsidian-tools', 53],
    ])
  })

  it('SC-001: a config of before these fields loads with every default', () => {
    expect(load('command: x\ntools:\n  - {name: a, description: b}\n')).toEqual({
      name: 'climax',
      description: '',
      command: 'x',
      env: {},
      workingDir: null,
      category: null,
      tags: [],
      globalArgs: [],
      tools: [{ name: 'a', description: 'b', command: '', args: [], tags: [], exampleRequests: [] }],
      endOfOptions: false,
    })
  })

  it('SC-002: the cases of before are tests by number', () => {
    const files = ['climax-semantics.test.ts', 'climax-runs.test.ts']
    const text = files.map((file) => readFileSync(join(import.meta.dirname, file), 'utf8')).join('')
    const tested = new Set([...text.matchAll(/'A3\.(\d+):/g)].map((match) => Number(match[1])))
    expect([...tested].sort((a, b) => a - b)).toEqual(Array.from({ length: 26 }, (_, index) => index + 1))
  })

  it('SC-004: one search gives the schema, one get what runs it', () => {
    const index = three()
    const [entry] = index.search({ query: 'history' })
    expect(entry?.inputSchema).toMatchObject({ required: ['revision'] })
    expect(index.get(entry?.toolName ?? '')).toMatchObject({ baseCommand: 'git', tool: { command: 'log' } })
  })

  it('SC-005: an entry has everything that a valid call needs', () => {
    const [entry] = three().search({ query: 'git_log' })
    expect(entry?.inputSchema).toMatchObject({
      properties: { max_count: { type: 'integer', default: 10 }, order: { enum: ['date', 'topo'] } },
      required: ['revision'],
    })
  })

  it('SC-006: search, summary and get are the only methods, and none changes the index', () => {
    const methods = Object.getOwnPropertyNames(ToolIndex.prototype).filter((name) => name !== 'constructor')
    expect(methods.sort()).toEqual(['get', 'search', 'size', 'summary'])
  })
})

describe('immutability', () => {
  it('what the index returns cannot be written to, all the way down', () => {
    const index = three()
    const [entry] = index.search({ query: 'git_log' })
    const resolved = index.get('git_log')
    const [summary] = index.summary()
    const { properties } = entry?.inputSchema ?? {}
    const writes: (() => unknown)[] = [
      () => Object.assign(entry as object, { description: 'changed' }),
      () => entry?.tags.push('changed'),
      () => Object.assign(properties as object, { more: {} }),
      () => Object.assign(summary as object, { toolCount: 99 }),
      () => summary?.tags.push('changed'),
      () => Object.assign(resolved as object, { baseCommand: 'rm' }),
      () => resolved?.tool.args.pop(),
      () => Object.assign(resolved?.env as object, { GIT_PAGER: 'changed' }),
      () => Object.assign(resolved?.tool.args[0] as object, { flag: '--changed' }),
      () => resolved?.tool.args[1]?.enum?.push('changed'),
      () => Object.assign(resolved?.argConstraints as object, { more: {} }),
      () => resolved?.globalArgs.pop(),
    ]
    for (const write of writes) expect(write).toThrow(TypeError)
    expect([index.search({ limit: unlimited }), index.summary(), index.get('git_log')]).toEqual([
      three().search({ limit: unlimited }),
      three().summary(),
      three().get('git_log'),
    ])
  })

  it('a list it returned is the caller\u2019s own', () => {
    const index = three()
    ;(index.search() as ToolIndexEntry[]).length = 0
    ;(index.summary() as CliSummary[]).length = 0
    expect(index.search()).toHaveLength(9)
    expect(index.summary()).toHaveLength(3)
  })

  it('a config changed after the index was built changes nothing, and is not frozen', () => {
    const config = load(gitYaml)
    const index = ToolIndex.fromConfigs([config])
    config.tags.push('changed')
    config.env.GIT_PAGER = 'less'
    config.tools[1]?.args.pop()
    config.tools.pop()
    expect(index.search({ query: 'git_' })).toEqual(indexOf(gitYaml).search({ query: 'git_' }))
    expect(index.get('git_log')).toEqual(indexOf(gitYaml).get('git_log'))
    expect(index.summary()).toEqual(indexOf(gitYaml).summary())
  })
})
