import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { needs } from '../../../tests/support/needs.ts'
import { climaxConfigFiles, hasClimaxConfigs, hasOpsTools, opsToolsFile } from '../../../tests/support/shared-data.ts'
import { TooldexError } from '../../base/errors.ts'
import { formatProblem, type Problem } from '../../base/problem.ts'
import { CliExecutorConfig } from '../../contract/cli-config.ts'
import { withDefaultHint } from '../../diagnostics/shape-problems.ts'
import { readBundle } from './read-bundle-in-worker.ts'
import { writeBundle } from './write-bundle.ts'

const read = (text: string, file = 'b.yaml') => readBundle(text, { file })
const warningsOf = (text: string) => read(text).problems.map(formatProblem)

function problemsOf(text: string): readonly Problem[] {
  try {
    return read(text).problems.map(withDefaultHint)
  } catch (error) {
    // No part of the text can be used.
    if (!(error instanceof TooldexError)) throw error
    expect(error.code).toBe('BUNDLE_INVALID')
    return error.problems
  }
}

const errorsOf = (text: string): readonly string[] =>
  problemsOf(text)
    .filter(({ severity }) => severity === 'error')
    .map(formatProblem)

const minimal = (name: string) => ({ name, displayName: 'A', description: 'B', inputSchema: {} })

describe('readBundle', () => {
  it('reads both spellings of keys', () => {
    const text =
      'tooldex: 1\ntools:\n  - {name: a, display_name: A, description: B, inputSchema: {}, script_content: x}\n'
    expect(read(text).bundle.tools[0]).toMatchObject({ displayName: 'A', scriptContent: 'x', executorType: 'python' })
  })

  it('leaves the status undefined where the file has none', () => {
    const tools = [minimal('a'), { ...minimal('b'), status: 'ACTIVE' }]
    const { bundle } = read(JSON.stringify({ tooldex: 1, tools }))
    expect(bundle.tools.map(({ status }) => status)).toEqual([undefined, 'ACTIVE'])
  })

  it('reports every problem at once, each with its place', () => {
    const text = `tooldex: 1
categories:
  - name: a
    parent: b
  - name: b
    parent: a
  - name: c
    parnet: a
  - name: d
    parent: aa
tools:
  - name: Bad Name
    display_name: 1
    description: x
    inputSchema: {}
  - {name: t, displayName: T, description: x, inputSchema: {}, category: e}
  - {name: t, displayName: T, display_name: U, description: x, inputSchema: []}
policies:
  - name: p
    policy: {tools: {t: {args: {x: {pattern: "("}}}}}
`
    const errors = errorsOf(text)
    const places = errors.map((error) => /^b\.yaml:(\d+:\d+)/.exec(error)?.[1])
    expect(places).toEqual(['4:13', '8:5', '10:13', '12:11', '13:19', '16:74', '17:12', '17:31', '17:77', '20:46'])
    expect(errors[0]).toContain("'a' is its own ancestor: a in b in a")
    expect(errors[1]).toContain("Did you mean 'parent'?")
    expect(errors[2]).toContain("there is no category 'aa'. Did you mean 'a'?")
    expect(errors[4]).toContain('put it in quotes')
    expect(errors[6]).toContain("the tool 't' is already at b.yaml:16:12")
  })

  it('knows lines and columns in JSON, indented with tabs too', () => {
    const text = JSON.stringify(
      { tooldex: 1, tools: [{ ...minimal('a'), executer_type: 'cli' }, { name: 'b' }] },
      null,
      '\t',
    )
    expect(errorsOf(text)).toContainEqual(
      expect.stringMatching(/^b\.yaml:9:4: unknown key 'executer_type'.*'executor_type'/),
    )
    expect(errorsOf(text)).toContainEqual(expect.stringMatching(/^b\.yaml:11:3: .*description is required/))
  })

  it.each([
    ['{"tooldex": 1, "tooldex": 1}', /1:16: duplicate key/],
    ['{"tooldex": 1', /the closing } is missing/],
    ['tooldex: 2', /tooldex must be one of: 1/],
    ['tools: [', /closing \]/],
    ['just text', /does not contain tools/],
    ['', /does not contain tools/],
    [`{"tooldex": 1, "tools": ${'['.repeat(300)}`, /nested more than 200/],
    [`a: &a [1]\nb: [${'*a,'.repeat(60)}]\nc: &b [*a,*a]\ntooldex: 1`, /expands more than|unknown key/],
    [
      `{"tooldex": 1, "tools": [{"name": "a", "displayName": "A", "description": "b", "inputSchema": {"__proto__": 1}}]}`,
      /'__proto__' is not allowed/,
    ],
    [`tooldex: 1\npolicies: [{name: p, policy: {tools: {__proto__: {}}}}]`, /'__proto__' is not allowed/],
    [
      `tooldex: 1\ntools: [{name: a, displayName: A, description: b, inputSchema: {}, scriptFile: ./a.py}]`,
      /only where a folder/,
    ],
  ])('refuses %s', (text, expected) => {
    expect(errorsOf(text).join('\n')).toMatch(expected)
  })

  it('refuses a text that is too large, or has too many tools', () => {
    expect(errorsOf(`# ${'x'.repeat(10 * 1024 * 1024)}`).join()).toMatch(/larger than/)
    const small = { displayName: 'A', description: 'B', inputSchema: {} }
    const tools = Array.from({ length: 100_001 }, (_, index) => ({ name: `t${index}`, ...small }))
    expect(errorsOf(JSON.stringify({ tooldex: 1, tools })).join()).toMatch(/at most 100000 tools/)
  })

  it('reads ten thousand tools, and a mapping with many keys, without delay', () => {
    const tools = Array.from({ length: 10_000 }, (_, index) => minimal(`t${index}`))
    const keys = Array.from({ length: 30_000 }, (_, index) => `k${index}: 1\n`).join('')
    expect(read(JSON.stringify({ tooldex: 1, tools })).bundle.tools).toHaveLength(10_000)
    expect(errorsOf(keys)).toHaveLength(1)
  })
})

describe('readBundle of a CLI config', () => {
  const config = `name: my tools
command: git
category: vcs
tags: [a]
env: {TOKEN: "\${NOT_SET}"}
working_dir: /srv
global_args: [{name: repo, flag: -C, default: $REPO}]
tools:
  - name: git-log
    description: Shows commits.
    command: log --all
    timeout: 5
    tags: [a, b]
    annotations: {read_only: true}
    args:
      - {name: count, type: integer, default: 0, flag: -n}
      - {name: short, type: boolean, default: false}
      - {name: path, positional: true, required: true}
`
  it('keeps all that is needed to run each tool', () => {
    const { bundle, format, problems: warnings } = read(config)
    expect(format).toBe('cli')
    expect(bundle.categories).toEqual([{ name: 'vcs', description: null, parent: null }])
    expect(bundle.tools[0]).toMatchObject({
      name: 'git_log',
      displayName: 'Git log',
      namespace: 'my-tools',
      category: 'vcs',
      tags: ['a', 'b'],
      annotations: { readOnlyHint: true },
      executorType: 'cli',
      inputSchema: { required: ['path'], properties: { count: { type: 'integer', default: 0 } } },
      executorConfig: {
        baseCommand: 'git',
        command: 'log --all',
        env: { TOKEN: '${NOT_SET}' },
        workingDir: '/srv',
        timeout: 5,
        globalArgs: [{ name: 'repo', flag: '-C', default: '$REPO' }],
        args: [
          { name: 'count', type: 'integer', default: 0, flag: '-n' },
          { name: 'short', type: 'boolean', default: false },
          { name: 'path', positional: true, required: true },
        ],
      },
    })
    expect(CliExecutorConfig.parse(bundle.tools[0]?.executorConfig).args[2]).toMatchObject({
      stdin: false,
      type: 'string',
    })
    expect(warnings.map(formatProblem)).toEqual([
      "b.yaml:1:7: 'my tools' was renamed to 'my-tools' (names in the registry are snake_case)",
      "b.yaml:9:11: 'git-log' was renamed to 'git_log' (names in the registry are snake_case)",
    ])
  })

  it('reports problems of a config at their positions', () => {
    expect(errorsOf(config.replace('default: 0', 'default: many'))[0]).toMatch(/^b\.yaml:16:47: .*not of type integer/)
  })

  needs(hasClimaxConfigs, 'no CLImax configs here')('takes the published configs', () => {
    const tools = climaxConfigFiles().flatMap((file) => read(readFileSync(file, 'utf8'), file).bundle.tools)
    expect(tools).toHaveLength(71)
    for (const tool of tools) CliExecutorConfig.parse(tool.executorConfig)
  })
})

describe('readBundle of a list of tools', () => {
  const schema = { type: 'object', properties: { city: { type: 'string' } } }

  it.each([
    ['OpenAI, nested', [{ type: 'function', function: { name: 'getWeather', description: 'W', parameters: schema } }]],
    ['OpenAI, flat', [{ type: 'function', name: 'getWeather', description: 'W', parameters: schema }]],
    ['MCP', { tools: [{ name: 'getWeather', description: 'W', inputSchema: schema }] }],
    ['MCP, bare', [{ name: 'getWeather', description: 'W', inputSchema: schema }]],
    ['Anthropic', [{ name: 'getWeather', description: 'W', input_schema: schema }]],
    ['one tool', { name: 'getWeather', description: 'W', inputSchema: schema }],
  ])('takes %s', (_, list) => {
    const { bundle, problems: warnings } = read(JSON.stringify(list))
    expect(bundle.tools).toMatchObject([
      {
        name: 'get_weather',
        displayName: 'Get Weather',
        inputSchema: schema,
        executorType: 'mcp',
        executorConfig: { tool: 'getWeather' },
      },
    ])
    expect(warnings.map(({ message }) => message)).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/renamed to 'get_weather'/),
        expect.stringMatching(/cannot be called yet/),
      ]),
    )
  })

  it('keeps title, output and hints of MCP, and names what it leaves out', () => {
    const tool = {
      name: 'a',
      title: 'An A',
      inputSchema: schema,
      outputSchema: schema,
      annotations: { readOnlyHint: true },
      icons: [{ src: 'https://example.org/a.png' }],
      _meta: { 'com.example/color': 'red' },
      execution: {},
    }
    const { bundle } = read(JSON.stringify([tool]))
    expect(bundle.tools[0]).toMatchObject({
      displayName: 'An A',
      description: 'An A',
      outputSchema: schema,
      annotations: tool.annotations,
      icons: tool.icons,
      _meta: tool._meta,
    })
    expect(warningsOf(JSON.stringify([tool])).join('\n')).toMatch(/left out of 'a': execution$/m)
  })

  it('points into the list as it is written', () => {
    const list =
      '[{"type": "function", "function": {"name": "a", "parameters": 1}},\n {"name": "b", "inputSchema": {}, "description": 2}, {"inputSchema": {}}]'
    expect(errorsOf(list)).toEqual([
      expect.stringMatching(/^b\.yaml:1:63: /),
      expect.stringMatching(/^b\.yaml:2:50: /),
      expect.stringMatching(/^b\.yaml:2:54: .*name/),
    ])
  })

  needs(hasOpsTools, 'no ops-tools here')('takes all ops tools with nothing lost', () => {
    const text = readFileSync(opsToolsFile, 'utf8')
    const { bundle, problems: warnings } = read(text, 'tools.json')
    const given = JSON.parse(text) as { name: string; display_name: string; description: string }[]
    expect(bundle.categories.map(({ name }) => name)).toEqual(['aws', 'database', 'java', 'kubernetes'])
    const back = bundle.tools.map(({ name, displayName, description, tags, inputSchema, outputSchema, category }) => {
      return {
        name,
        display_name: displayName,
        description,
        tags,
        input_schema: inputSchema,
        output_schema: outputSchema,
        category,
      }
    })
    expect(back).toEqual(given.toSorted((a, b) => (a.name < b.name ? -1 : 1)))
    expect(warnings).toHaveLength(1)
    expect(read(writeBundle(bundle, 'yaml')).bundle).toEqual(bundle)
  })
})
