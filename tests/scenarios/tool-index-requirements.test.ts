import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  buildInputSchema,
  type CliConfigInput,
  CliSummary,
  ResolvedTool,
  ToolIndex,
  ToolIndexEntry,
} from '../../src/index.ts'
import { connect } from '../support/connect.ts'
import { projectRoot } from '../support/run-cli.ts'
import { tempFile } from '../support/temp-folder.ts'
import {
  dockerYaml,
  gitYaml,
  indexOf,
  load,
  many,
  named,
  names,
  plainYaml,
  three,
  unlimited,
} from './index-fixtures.ts'

describe('requirements', () => {
  it('FR-001: category is an optional text', () => {
    expect(load('command: x\ncategory: any text at all\ntools: []\n').category).toBe('any text at all')
    expect(load('command: x\ncategory:\ntools: []\n').category).toBeNull()
    expect(() => load('command: x\ncategory: [vcs]\ntools: []\n')).toThrow(
      expect.objectContaining({ code: 'CONFIG_INVALID' }),
    )
  })

  it('FR-002: tags is an optional list of texts', () => {
    expect(load('command: x\ntags: [a, "b c"]\ntools: []\n').tags).toEqual(['a', 'b c'])
    for (const tags of ['a', '[1]', '{a: b}']) {
      expect(() => load(`command: x\ntags: ${tags}\ntools: []\n`)).toThrow(
        expect.objectContaining({ code: 'CONFIG_INVALID' }),
      )
    }
  })

  it('FR-003: configs load with and without them', () => {
    for (const yaml of [gitYaml, dockerYaml, plainYaml]) expect(() => load(yaml)).not.toThrow()
  })

  it('FR-004: the index is built from all configs, loaded or written in code', () => {
    expect(three().size).toBe(9)
    expect(names(ToolIndex.fromConfigs([load(plainYaml), many(2)]).search())).toEqual(['say', 'tool_0', 'tool_1'])
    expect(() => ToolIndex.fromConfigs([{ command: 'x' } as CliConfigInput])).toThrow()
  })

  it('FR-005: an entry has name, description, cli, category, tags and the schema of its arguments', () => {
    const [entry] = indexOf(gitYaml).search({ query: 'git_log' })
    expect(Object.keys(entry ?? {})).toEqual(['toolName', 'description', 'cliName', 'category', 'tags', 'inputSchema'])
    expect(entry).toMatchObject({
      toolName: 'git_log',
      cliName: 'git-tools',
      category: 'vcs',
      tags: ['version-control', 'commits'],
    })
    const args = three().get('git_log')?.tool.args ?? []
    expect(args.map((arg) => arg.flag ?? null)).toEqual(['-n', '--order=', null])
    expect(entry?.inputSchema).toEqual(buildInputSchema(args))
  })

  it('FR-006: search takes query, category, cli and limit, each of them optional', () => {
    const index = three()
    const all = { query: 'commit', category: 'VCS', cli: 'Git-Tools', limit: 2 }
    expect(names(index.search(all))).toEqual(['git_status', 'git_log'])
    for (const key of Object.keys(all) as (keyof typeof all)[])
      expect(index.search({ ...all, [key]: undefined })).not.toEqual([])
  })

  it('FR-007: the query is looked for in name, description, cli, category and tags', () => {
    const index = three()
    expect(names(index.search({ query: 'it_stat' }))).toEqual(['git_status'])
    expect(names(index.search({ query: 'is staged' }))).toEqual(['git_status', 'git_commit'])
    expect(names(index.search({ query: 'ker-too' }))).toEqual(['docker_ps', 'docker_commit', 'docker_branch'])
    expect(names(index.search({ query: 'ainers dev' }))).toHaveLength(3)
    expect(names(index.search({ query: 'devops' }))).toHaveLength(3)
  })

  it('FR-007: category and cli are compared whole, whatever their case', () => {
    const index = three()
    expect(index.search({ category: 'VCS' })).toHaveLength(5)
    expect(index.search({ cli: 'GIT-TOOLS' })).toHaveLength(5)
    for (const part of ['vc', 'cs', 'v', 'vcs ', 'container']) expect(index.search({ category: part })).toEqual([])
    for (const part of ['git', 'tools', 'git-tool']) expect(index.search({ cli: part })).toEqual([])
  })

  it('FR-008: all filters must match', () => {
    const index = three()
    expect(index.search({ query: 'commit', category: 'containers' })).toMatchObject([{ toolName: 'docker_commit' }])
    expect(index.search({ category: 'vcs', cli: 'docker-tools' })).toEqual([])
    expect(index.search({ query: 'say', category: 'vcs' })).toEqual([])
  })

  it('FR-009: at most the limit, 10 by default, in the order of loading', () => {
    const index = ToolIndex.fromConfigs([named('b', 'z', 'y'), many(20), named('a', 'x')])
    expect(names(index.search({ limit: 4 }))).toEqual(['z', 'y', 'tool_0', 'tool_1'])
    expect(index.search()).toHaveLength(10)
    expect(index.search({ limit: 1.5 })).toHaveLength(1)
    expect(index.search({ query: 'tool', limit: 1.5 })).toHaveLength(1)
    expect(index.search({ limit: 1000 })).toHaveLength(23)
  })

  it('FR-009: a filter is applied before the limit', () => {
    expect(names(three().search({ cli: 'plain', limit: 1 }))).toEqual(['say'])
  })

  it('FR-010: summary lists the configs with their counts, categories and tags', () => {
    const summary = three().summary()
    expect(summary.map((cli) => [cli.name, cli.toolCount, cli.category, cli.tags])).toEqual([
      ['git-tools', 5, 'vcs', ['version-control', 'commits']],
      ['docker-tools', 3, 'containers', ['devops']],
      ['plain', 1, null, []],
    ])
    for (const cli of summary) expect(CliSummary.parse(cli)).toEqual(cli)
  })

  it('FR-011: get gives the tool of exactly this name, or null', () => {
    const index = three()
    for (const name of names(index.search({ limit: unlimited }))) {
      const resolved = index.get(name)
      expect(resolved?.tool.name).toBe(name)
      expect(ResolvedTool.parse(resolved)).toEqual(resolved)
    }
    expect(index.get('git_log ')).toBeNull()
  })

  it('FR-012: ToolIndexEntry is a schema that accepts every entry, also after a trip through JSON', () => {
    for (const entry of three().search({ limit: unlimited })) {
      expect(ToolIndexEntry.parse(entry)).toEqual(entry)
      expect(ToolIndexEntry.parse(JSON.parse(JSON.stringify(entry)))).toEqual(entry)
    }
    expect(ToolIndexEntry.safeParse({ toolName: 'x' }).success).toBe(false)
  })

  it('FR-013: every entry is found by any part of its own text, whatever is in it', () => {
    const odd = ['a+b', 'c:\\d', '(?:x)', '$1', '100%', '"quoted"', 'Ünïcödé', '日本語', '🦊🐻']
    const tools = odd.map((description, index) => ({ name: `t${index}`, description }))
    const index = ToolIndex.fromConfigs([{ command: 'x', tools }])
    for (const [position, query] of odd.entries()) expect(names(index.search({ query }))).toEqual([`t${position}`])
  })

  it('FR-014: the classic list is the tools of the configs, each itself', async () => {
    const files = [gitYaml, dockerYaml, plainYaml].map((yaml) => tempFile('config.yaml', yaml))
    const { client } = await connect(['--classic', ...files])
    const { tools } = await client.listTools()
    const expected = three().search({ limit: unlimited })
    expect(tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }))).toEqual(
      expected.map(({ toolName: name, description, inputSchema }) => ({ name, description, inputSchema })),
    )
  })

  it('FR-015: what the index is made of imports nothing from outside', () => {
    const files = ['search/tool-index.ts', 'base/substring-index.ts', 'base/json-values.ts']
    const imports = files.flatMap((file) =>
      [...readFileSync(join(projectRoot, 'src', file), 'utf8').matchAll(/from '([^']+)'/g)].map((match) => match[1]),
    )
    expect(imports.length).toBeGreaterThan(5)
    expect(imports.filter((path) => !path?.startsWith('.'))).toEqual([])
  })
})
