import { describe, expect, it } from 'vitest'
import { buildInputSchema, loadConfig, loadPolicy, ToolIndex } from '../../src/index.ts'
import { connect } from '../support/connect.ts'
import { needs } from '../support/needs.ts'
import { runCli } from '../support/run-cli.ts'
import { runInline } from '../support/run-here.ts'
import { climaxConfigFiles, hasClimaxConfigs } from '../support/shared-data.ts'
import { tempFile } from '../support/temp-folder.ts'
import { gitYaml, indexOf, load, named, names, three } from './index-fixtures.ts'
import { openTools } from './open-tools.ts'

const echoYaml = `
name: echoes
description: Prints things
command: echo
category: demo
tags: [text]
tools:
  - name: echo_words
    description: Print words
    args:
      - {name: message, required: true, positional: true}
      - {name: count, type: integer, default: 1}
      - {name: ratio, type: number}
      - {name: loud, type: boolean}
      - {name: mode, enum: [plain, fancy]}
  - {name: echo_nothing, description: Print an empty line}
`

const resultNames = (data: Record<string, unknown>) => (data.results as { name: string }[]).map((hit) => hit.name)

describe('search', () => {
  it('A3.1: a query may straddle two fields, in the order name, description, cli, category, tags', () => {
    const index = indexOf(gitYaml)
    for (const query of [
      'vcs version-control',
      'git-tools vcs',
      'branches git-tools',
      'git_branch list',
      'version-control commits',
    ]) {
      expect(index.search({ query }), query).not.toEqual([])
    }
    expect(index.search({ query: 'commits version-control' })).toEqual([])
  })

  needs(hasClimaxConfigs, 'CLImax configs are not here')(
    'A3.1: "vcs version-control" matches all of CLImax\u2019s git',
    () => {
      const index = ToolIndex.fromConfigs(climaxConfigFiles().map((file) => loadConfig(file)))
      expect(index.search({ query: 'vcs version-control' }).map((entry) => entry.cliName)).toEqual(
        Array(6).fill('git-tools'),
      )
      expect(index.search({ query: 'vcs  version-control' })).toEqual([])
    },
  )

  it('A3.2: in the index an empty or null filter does not filter', () => {
    const index = three()
    for (const none of ['', null, undefined]) {
      expect(index.search({ query: none, category: none, cli: none })).toEqual(index.search())
    }
  })

  it('A3.2: in search_tools nothing given is the summary, an empty text is given and browses', async () => {
    const { search } = openTools(echoYaml)
    for (const given of [{}, { query: null, category: null, cli: null }, { limit: 5 }]) {
      expect((await search(given)).data).toMatchObject({ mode: 'summary', summary: [{ name: 'echoes', toolCount: 2 }] })
    }
    for (const given of [{ query: '' }, { category: '' }, { cli: '' }]) {
      const { data } = await search(given)
      expect(data.mode).toBe('search')
      expect(resultNames(data)).toEqual(['echo_words', 'echo_nothing'])
    }
  })

  it('A3.3: category and cli are exact whatever their case; no category matches no filter', async () => {
    const index = three()
    expect(index.search({ category: 'Vcs' })).toHaveLength(5)
    expect(index.search({ category: 'vc' })).toEqual([])
    expect(names(index.search({ category: 'vcs' }))).not.toContain('say')
    for (const category of ['null', 'undefined', 'none']) expect(index.search({ category })).toEqual([])
    const { search } = openTools(echoYaml)
    expect(resultNames((await search({ category: 'DEMO', cli: 'Echoes' })).data)).toHaveLength(2)
    expect((await search({ category: 'dem' })).data.results).toEqual([])
  })

  it('A3.4: the order is that of loading, and of duplicates the last keeps its own place', () => {
    const index = ToolIndex.fromConfigs([named('one', 't1', 't2'), named('two', 't3', 't1')], { onDuplicate: () => {} })
    expect(names(index.search())).toEqual(['t2', 't3', 't1'])
  })

  it('A3.5: a duplicate inside one file is one tool, with a warning, and each config counts the tools it has', async () => {
    const told: string[] = []
    const index = ToolIndex.fromConfigs([named('one', 't1', 't2', 't1')], { onDuplicate: (tool) => told.push(tool) })
    expect(names(index.search())).toEqual(['t2', 't1'])
    expect(told).toEqual(['t1'])
    const both = ToolIndex.fromConfigs([named('one', 't1', 't2'), named('two', 't3', 't1')], { onDuplicate: () => {} })
    expect(both.summary().map((cli) => cli.toolCount)).toEqual([2, 2])
    const file = tempFile(
      'twice.yaml',
      'command: x\ntools:\n  - {name: t, description: a}\n  - {name: t, description: b}\n',
    )
    expect((await runCli(['list', file])).stderr).toContain("tool 't' is defined more than once")
  })

  it('A3.6: a limit of 0 or below gives nothing in the index; in search_tools 0 gives nothing and below is refused', async () => {
    for (const limit of [0, -1, -100]) expect(three().search({ limit })).toEqual([])
    const { search } = openTools(echoYaml)
    expect((await search({ query: 'print', limit: 0 })).data.results).toEqual([])
    expect((await search({ limit: 0 })).data.summary).toEqual([])
    for (const limit of [-1, 1.5, 'many', Number.NaN]) {
      const { isError, text } = await search({ query: 'print', limit })
      expect(isError).toBe(true)
      expect(text).toContain('limit')
    }
    expect(resultNames((await search({ query: 'print', limit: null })).data)).toHaveLength(2)
  })

  it('A3.7: names are case-sensitive; an empty or unknown one gives null', () => {
    const index = three()
    expect(index.get('git_log')).not.toBeNull()
    for (const name of ['', 'Git_log', 'unknown']) expect(index.get(name)).toBeNull()
  })

  it('A3.8: get has the global arguments, and a call runs with them', async () => {
    expect(indexOf(gitYaml).get('git_status')?.globalArgs).toMatchObject([{ name: 'no_pager', default: true }])
    expect(await openTools(gitYaml).argv('git_status', { short: true })).toEqual([
      'git',
      'status',
      '--short',
      '--no-pager',
    ])
  })
})

describe('policy and the catalog', () => {
  const policy = `
tools:
  echo_words:
    description: Print words, under supervision
`
  it('A3.9: a disabled tool is gone from search, counts, descriptions, lists and calls', async () => {
    const { search, describe: read, call } = openTools(echoYaml, policy)
    expect(resultNames((await search({ query: 'print' })).data)).toEqual(['echo_words'])
    expect(resultNames((await search({ query: 'print', limit: 1 })).data)).toEqual(['echo_words'])
    expect((await search({})).data.summary).toMatchObject([{ name: 'echoes', toolCount: 1 }])
    for (const answer of [await read('echo_nothing'), await call('echo_nothing')]) {
      expect(answer).toMatchObject({ isError: true, data: { error: { code: 'TOOL_NOT_FOUND' } } })
    }
    const { value } = loadPolicy(tempFile('policy.yaml', policy))
    const index = ToolIndex.fromConfigs([load(echoYaml)], { policy: value })
    expect(names(index.search())).toEqual(['echo_words'])
    expect(index.search({ query: 'echo_nothing' })).toEqual([])
    expect(index.get('echo_nothing')).toBeNull()
    expect(index.summary()).toMatchObject([{ toolCount: 1 }])
  })

  it('A3.9: the description of a policy shows everywhere', async () => {
    const supervised = 'Print words, under supervision'
    const { search, describe: read } = openTools(echoYaml, policy)
    expect((await search({ query: 'supervision' })).data.results).toMatchObject([{ shortDescription: supervised }])
    expect((await search({ query: 'echo', level: 'schema' })).data.results).toMatchObject([{ description: supervised }])
    expect((await read('echo_words')).data.tools).toMatchObject([
      { summary: supervised, tool: { description: supervised } },
    ])
    const [file, rules] = [tempFile('echo.yaml', echoYaml), tempFile('policy.yaml', policy)]
    const { client } = await connect(['--classic', '--policy', rules, file])
    expect((await client.listTools()).tools).toMatchObject([{ name: 'echo_words', description: supervised }])
    expect((await runInline(['list', file, '--policy', rules, '--json'])).stdout).toContain(supervised)
    const resolved = ToolIndex.fromConfigs([load(echoYaml)], { policy: loadPolicy(rules).value }).get('echo_words')
    expect(resolved).toMatchObject({ descriptionOverride: supervised, tool: { description: 'Print words' } })
  })

  it('A3.10: an unknown tool is an error that names near ones, not all', async () => {
    const { client } = await connect([tempFile('echo.yaml', echoYaml), tempFile('git.yaml', gitYaml)])
    const answer = await client.callTool({ name: 'call_tool', arguments: { name: 'git_comit' } })
    expect(answer.isError).toBe(true)
    expect(answer.content).toMatchObject([
      { text: expect.stringMatching(/^Unknown tool: git_comit\.\nDid you mean 'git_commit'/) },
    ])
    expect(JSON.stringify(answer.content)).not.toContain('echo_nothing')
    await expect(client.callTool({ name: 'git_log', arguments: {} })).rejects.toThrow(
      /Unknown tool: git_log.*search_tools/,
    )
  })

  it('A3.11: a call without a name is rejected with that reason', async () => {
    const { client } = await connect([tempFile('echo.yaml', echoYaml)])
    const answer = await client.callTool({ name: 'call_tool', arguments: {} })
    expect(answer.isError).toBe(true)
    expect(answer.content).toMatchObject([{ text: expect.stringContaining('name is required') }])
  })
})

describe('arguments', () => {
  it('A3.12: all problems are reported at once: missing arguments, then the others in the order of the call', async () => {
    const { isError, text } = await openTools(echoYaml).call('echo_words', { mode: 'odd', loud: 'maybe', count: 'x' })
    expect(isError).toBe(true)
    expect(text.split('\n').slice(0, 5)).toEqual([
      'Argument validation failed:',
      "  - Missing required argument 'message'",
      "  - Argument 'mode' must be one of: plain, fancy",
      "  - Argument 'loud': cannot convert 'maybe' to boolean",
      "  - Argument 'count': cannot convert 'x' to integer",
    ])
  })

  it.each([
    [{}, "Missing required argument 'message'"],
    [{ message: 'm', count: 'v' }, "Argument 'count': cannot convert 'v' to integer"],
    [{ message: 'm', ratio: 'v' }, "Argument 'ratio': cannot convert 'v' to number"],
    [{ message: 'm', loud: 'v' }, "Argument 'loud': cannot convert 'v' to boolean"],
    [{ message: 'm', mode: 'v' }, "Argument 'mode' must be one of: plain, fancy"],
  ])('A3.13: %j is answered with: %s', async (args, message) => {
    const { text, data, isError } = await openTools(echoYaml).call('echo_words', args)
    expect(isError).toBe(true)
    expect(text).toContain(`Argument validation failed:\n  - ${message}`)
    expect(data).toMatchObject({ error: { code: 'INPUT_INVALID', errors: [{ message }] } })
  })

  it('A3.14: values are converted where nothing is lost, and reach the program so', async () => {
    const { argv } = openTools(echoYaml)
    const args = { message: 5, count: ' 1_000 ', ratio: '1e3', loud: 'TRUE', mode: null }
    expect(await argv('echo_words', args)).toEqual(['echo', '5', '--count', '1000', '--ratio', '1000', '--loud'])
    expect(await argv('echo_words', { message: true, count: true, loud: 2 })).toEqual([
      'echo',
      'true',
      '--count',
      '1',
      '--loud',
    ])
  })

  it.each([
    [{ message: 'm', count: 3.7 }, 'cannot convert 3.7 to integer'],
    [{ message: 'm', count: '3.7' }, "cannot convert '3.7' to integer"],
    [{ message: 'm', ratio: 'nan' }, "cannot convert 'nan' to number"],
    [{ message: 'm', loud: [true] }, 'cannot convert [true] to boolean'],
    [{ message: ['p', 'q'] }, 'cannot convert ["p","q"] to string'],
    [{ message: { a: 1 } }, 'cannot convert {"a":1} to string'],
    [{ message: null }, "Missing required argument 'message'"],
  ])('A3.14: %j is refused, not bent: %s', async (args, message) => {
    const { text, isError } = await openTools(echoYaml).call('echo_words', args)
    expect(isError).toBe(true)
    expect(text).toContain(message)
  })

  it('A3.15: unknown arguments are refused with a suggestion', async () => {
    const { text, isError } = await openTools(echoYaml).call('echo_words', { message: 'm', cuont: 2 })
    expect(isError).toBe(true)
    expect(text).toContain("Unknown argument 'cuont'. Did you mean 'count'?")
  })

  it('A3.15: null or absent arguments are empty, and other values than objects are rejected', async () => {
    const { rawCall } = openTools(echoYaml)
    for (const args of [null, undefined, {}]) {
      expect(await rawCall({ name: 'echo_nothing', arguments: args })).toMatchObject({
        isError: false,
        text: '(no output)',
      })
    }
    for (const args of ['text', 5, ['a'], true]) {
      expect(await rawCall({ name: 'echo_nothing', arguments: args })).toMatchObject({
        isError: true,
        data: { error: { code: 'INPUT_INVALID' } },
      })
    }
  })

  it('A3.15: an enum is checked on the text of the converted value', async () => {
    const { argv } = openTools(
      'command: x\ntools:\n  - {name: t, description: d, args: [{name: n, type: integer, enum: ["1", "2"]}]}\n',
    )
    expect(await argv('t', { n: ' 2 ' })).toEqual(['x', '--n', '2'])
    await expect(argv('t', { n: 3 })).rejects.toThrow("Argument 'n' must be one of: 1, 2")
  })

  it('A3.24: the schema has what CLImax\u2019s has, in its order', () => {
    const { tools } = load(`
command: x
global_args: [{name: vault, default: v}]
tools:
  - name: t
    description: d
    args:
      - {name: a, description: An a, enum: [p, q], default: p, required: false}
      - {name: b, type: integer, default: 0}
      - {name: c, type: boolean, default: false}
      - {name: d, type: number, required: true, enum: []}
      - {name: folder, cwd: true}
      - {name: text, stdin: true}
  - {name: u, description: d}
`)
    expect(tools.map((tool) => JSON.stringify(buildInputSchema(tool.args)))).toEqual([
      '{"type":"object","properties":{"a":{"type":"string","description":"An a","default":"p","enum":["p","q"]},' +
        '"b":{"type":"integer","default":0},"c":{"type":"boolean","default":false},"d":{"type":"number"},' +
        '"folder":{"type":"string"},"text":{"type":"string"}},"required":["d"]}',
      '{"type":"object","properties":{}}',
    ])
  })
})

describe('loading', () => {
  it.each([
    ['an empty file', '', 1],
    ['a list at the top', '- a\n', 1],
    ['no command', 'tools: []\n', 1],
    ['no tools', 'command: x\n', 1],
    ['no description', 'command: x\ntools:\n  - {name: a}\n', 3],
    ['no name', 'command: x\ntools:\n  - {description: a}\n', 3],
    [
      'a wrong type of argument',
      'command: x\ntools:\n  - name: a\n    description: d\n    args:\n      - {name: b, type: text}\n',
      6,
    ],
    ['an env value that is no text', 'command: x\nenv:\n  PORT: 80\ntools: []\n', 3],
    ['tags that are no list', 'command: x\ntags: a\ntools: []\n', 2],
    ['an empty command', 'command: ""\ntools: []\n', 1],
    ['a blank command', 'command: " "\ntools: []\n', 1],
  ])('A3.25: %s is an error with its line', (_, yaml, line) => {
    expect(() => load(yaml)).toThrow(
      expect.objectContaining({
        code: 'CONFIG_INVALID',
        problems: [expect.objectContaining({ severity: 'error', line })],
      }),
    )
  })

  it('A3.25: an empty list of tools is valid, and an unknown key is a warning with a suggestion', async () => {
    expect(load('command: x\ntools: []\n').tools).toEqual([])
    const file = tempFile('odd.yaml', 'command: echo\ncategroy: x\ntools: []\n')
    const { code, stdout } = await runInline(['validate', file])
    expect(code).toBe(0)
    expect(stdout).toContain("2:1: unknown key 'categroy'. Did you mean 'category'?")
    expect((await runInline(['validate', '--strict', file])).code).toBe(3)
  })

  it.each([
    ['an empty file', '', 1],
    ['an unknown default', 'default: maybe\n', 1],
    ['docker without an image', 'executor:\n  type: docker\n', 2],
    ['a rule that is null', 'tools:\n  a:\n', 2],
    ['a bad regular expression', 'tools:\n  a:\n    args:\n      b: {pattern: "("}\n', 4],
    ['a minimum above the maximum', 'tools:\n  a:\n    args:\n      b: {min: 2, max: 1}\n', 4],
  ])('A3.25: a policy with %s is an error with its line', (_, yaml, line) => {
    expect(() => loadPolicy(tempFile('policy.yaml', yaml))).toThrow(
      expect.objectContaining({
        code: 'POLICY_INVALID',
        problems: [expect.objectContaining({ severity: 'error', line })],
      }),
    )
  })

  it('A3.25: a rule without constraints is {}', () => {
    expect(loadPolicy(tempFile('policy.yaml', 'tools: {a: {}}\n')).value).toMatchObject({
      default: 'disabled',
      tools: { a: { args: {} } },
    })
  })

  it('A3.26: classic calls are checked like the others, and fail with isError', async () => {
    const { client } = await connect(['--classic', tempFile('echo.yaml', echoYaml)])
    const call = (args: Record<string, unknown>) => client.callTool({ name: 'echo_words', arguments: args })
    expect(await call({})).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining("Missing required argument 'message'") }],
    })
    expect(await call({ message: {} })).toMatchObject({ isError: true })
    expect(await call({ message: 5 })).toMatchObject({ content: [{ text: '5 --count 1' }] })
    const listed = (await client.listTools()).tools.map((tool) => tool.name)
    expect(listed).toEqual(['echo_words', 'echo_nothing'])
  })
})
