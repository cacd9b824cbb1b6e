import { existsSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { TooldexError } from '../src/base/errors.ts'
import { createLocalClient } from '../src/operations/registry-client/registry-client.ts'
import { openRegistry } from './support/open-registry.ts'
import { runInProcess } from './support/run-in-process.ts'
import { tempFile, tempFolder } from './support/temp-folder.ts'

let registry: Awaited<ReturnType<typeof openRegistry>>
beforeAll(async () => {
  registry = await openRegistry()
})
afterAll(() => registry.close())

const run = (...words: string[]) =>
  runInProcess(words, { openRegistry: async () => createLocalClient(registry.context) })
const get = async (name: string) => JSON.parse((await run('tools', 'get', name)).out)

const camel = `name: camel_tool
displayName: A tool
description: Does one thing.
inputSchema: { type: object }
executorType: http
executorConfig: { method: GET, url: https://example.com/ }
examples:
  - { description: One, args: {}, resultHint: nothing }
`
const snake = camel
  .replace('camel_tool', 'snake_tool')
  .replaceAll(/\b(displayName|inputSchema|executorType|executorConfig|resultHint)\b/g, (key) =>
    key.replace(/[A-Z]/, (letter) => `_${letter.toLowerCase()}`),
  )

describe('the keys of a tool file', () => {
  it('are camelCase or snake_case, as in bundles', async () => {
    expect(snake).toMatch(/display_name[\s\S]*executor_config[\s\S]*result_hint/)
    for (const text of [camel, snake]) {
      const { code, err } = await run('tools', 'create', tempFile('tool.yaml', text))
      expect([code, err]).toEqual([0, ''])
    }
    const { id: _a, name: _b, createdAt: _c, updatedAt: _d, ...first } = await get('camel_tool')
    expect(await get('snake_tool')).toMatchObject(first)
    const edit = await run(
      'tools',
      'edit',
      'snake_tool',
      tempFile('edit.yaml', 'display_name: Another\nexample_requests: [do it]\n'),
    )
    expect([edit.code, edit.err]).toEqual([0, ''])
    expect(await get('snake_tool')).toMatchObject({ displayName: 'Another', exampleRequests: ['do it'], version: 2 })
    const propose = await run(
      'tools',
      'propose',
      'snake_tool',
      tempFile('p.json', '{"external_refs": ["https://a.example"]}'),
    )
    expect([propose.code, propose.err]).toEqual([0, ''])
  })

  it('are rejected where one occurs in both spellings', async () => {
    const text = `${snake.replace('snake_tool', 'both_tool')}displayName: Again\n`
    const { code, err } = await run('tools', 'create', tempFile('both.yaml', text))
    expect([code, err]).toEqual([2, expect.stringContaining('display_name')])
  })

  it('are named with file, line and column where something is wrong with them', async () => {
    const text = `name: Bad Name
display_name: 7
description: Does one thing.
input_schema:
  type: objekt
executor_type: http
executor_config: { method: GET, url: "ftp://example.com/" }
nonsense: 1
`
    const file = tempFile('wrong.yaml', text)
    const created = await run('tools', 'create', file)
    expect(created.code).toBe(2)
    for (const place of ['1:1', '2:1', '8:1']) expect(created.err).toContain(`${file}:${place}: `)
    const sound = text.replace('Bad Name', 'bad_name').replace('7', 'Seven').replace('nonsense: 1\n', '')
    const checked = await run('tools', 'create', tempFile('schema.yaml', sound))
    expect(checked.code).toBe(2)
    expect(checked.err).toMatch(/schema\.yaml:5:3: [\s\S]*schema\.yaml:7:33: /)
    const json = await run('tools', 'edit', 'camel_tool', tempFile('edit.json', '{\n  "display_name": 7\n}'))
    expect(json.err).toMatch(/edit\.json:2:3: /)
    const proposed = await run('tools', 'propose', 'camel_tool', tempFile('p.yaml', 'tags: [a]\ndisplay_name: 7\n'))
    expect(proposed.err).toMatch(/p\.yaml:2:1: /)
    const yaml = await run('tools', 'create', tempFile('none.yaml', 'name: a\ntags: [b\n'))
    expect(yaml.err).toMatch(/none\.yaml:\d+:\d+: the closing \] is missing/)
  })
})

describe('the script of a tool file', () => {
  const python =
    'name: NAME\ndisplay_name: P\ndescription: Runs a script.\ninput_schema: { type: object }\nexecutor_type: python\n'
  const script = 'def main(arguments):\n    return 1\n'

  it('is a file of its own, by --script or script_file', async () => {
    const folder = tempFolder()
    tempFile('beside.py', script, folder)
    const named = tempFile('named.yaml', `${python.replace('NAME', 'by_key')}script_file: ./beside.py\n`, folder)
    expect((await run('tools', 'create', named)).err).toBe('')
    const given = tempFile('given.yaml', python.replace('NAME', 'by_flag'))
    expect((await run('tools', 'create', given, '--script', tempFile('s.py', script))).err).toBe('')
    for (const name of ['by_key', 'by_flag']) expect(await get(name)).toMatchObject({ scriptContent: script })
    const other = tempFile('t.py', script.replace('1', '2'))
    expect((await run('tools', 'edit', 'by_flag', tempFile('e.yaml', 'notes: n\n'), '--script', other)).code).toBe(0)
    expect(await get('by_flag')).toMatchObject({ notes: 'n', scriptContent: script.replace('1', '2') })
    expect((await run('tools', 'validate', '--file', given, '--script', other)).out).toBe('valid\n')
  })

  it('is reported by its own lines, and by its path where it is missing', async () => {
    const file = tempFile('tool.yaml', python.replace('NAME', 'broken_script'))
    const broken = await run('tools', 'validate', '--file', file, '--script', tempFile('b.py', 'def main(:\n'))
    expect([broken.code, broken.out]).toEqual([2, expect.stringMatching(/^error: \S+b\.py:1:10: .*\nnot valid\n$/)])
    const created = await run('tools', 'create', file, '--script', tempFile('c.py', 'def main(:\n'))
    expect([created.code, created.err]).toEqual([2, expect.stringMatching(/c\.py:1:10: /)])
    const missing = await run('tools', 'create', file, '--script', '/nowhere/x.py')
    expect(missing.code).not.toBe(0)
    expect(missing.err).toContain('/nowhere/x.py')
  })
})

it.each([
  ['create', ['tools', 'create']],
  ['validate', ['tools', 'validate', '--file']],
])('a missing scriptFile is reported with the other problems of its tool: %s', async (_, words) => {
  const head = 'name: no_script\ndisplayName: P\ndescription: Runs a script.\nexecutorType: python\n'
  const rest = 'inputSchema: { type: objct }\nexecutorConfig: { timeoutMs: -5 }\nscriptFile: ./gone.py\n'
  const file = tempFile('no-script.yaml', `${head}${rest}`)
  const { code, err } = await run(...words, file)
  expect(code).toBe(2)
  expect(err).toMatch(/^error: The tool was refused: 4 problems\.\n/)
  expect(err).toMatch(/no-script\.yaml:7:1: scriptFile: \S+gone\.py does not exist/)
  expect(err).toContain('no-script.yaml:5:')
  expect(err).toContain('no-script.yaml:6:')
  expect((await run('tools', 'get', 'no_script')).err).toContain('Unknown tool: no_script.')
})

describe('the script inside a tool file', () => {
  const head =
    'name: inside\ndisplayName: P\ndescription: Runs a script.\ninputSchema: { type: object }\noutputSchema: { type: strin }\n'
  const commands = [
    ['create', (file: string) => run('tools', 'create', file)],
    ['validate', (file: string) => run('tools', 'validate', '--file', file)],
  ] as const

  it.each(commands)('is reported by the lines of the file: %s', async (_, ask) => {
    const block = tempFile('block.yaml', `${head}scriptContent: |\n  def main(a):\n      return (\n`)
    const { code, out, err } = await ask(block)
    expect(code).toBe(2)
    expect(out + err).toContain(`${block}:8:14: the script is not valid Python`)
    expect(out + err).toContain(`${block}:5:17: `)
  })

  it.each(commands)('is reported by its own lines where the file has it in one line: %s', async (_, ask) => {
    const line = tempFile('line.yaml', `${head}script_content: "def main(a):\\n    return (\\n"\n`)
    const { out, err } = await ask(line)
    expect(out + err).toContain(`${line}:6:17: line 2, column 12 of the script: the script is not valid Python`)
  })
})

it('problems of an applied folder are reported by file, line and column, scripts included', async () => {
  const folder = tempFolder()
  const head = (name: string) =>
    `name: ${name}\ndisplayName: P\ndescription: Runs a script.\ninputSchema: { type: object }\n`
  const block = 'scriptContent: |\n  def main(a):\n      return (\n'
  const inside = tempFile('b_inside.yaml', `${head('z_inside')}outputSchema: { type: strin }\n${block}`, folder)
  tempFile('c_beside.yaml', `${head('a_beside')}scriptFile: ./beside.py\n`, folder)
  tempFile('beside.py', 'def main(:\n', folder)
  const { code, err } = await run('apply', folder)
  expect(code).toBe(2)
  expect(err).toContain(`${inside}:5:23: `)
  expect(err).toContain(`${inside}:8:14: the script is not valid Python`)
  expect(err).toMatch(/beside\.py:1:10: the script is not valid Python/)
})

describe('problems of files', () => {
  const tools = `  - name: Bad Name
    displayNmae: Typo
    description: Does one thing.
    inputSchema: { type: object }
    outputSchema: { type: strin }
    scriptContent: |
      def main(a):
          return (
  - name: deep
    displayName: Deep
    description: Does one thing.
    inputSchema: { type: object }
    executorType: http
    executorConfig: { method: GET, url: "ftp://example.com/" }
`
  const expected = ['4:11', '5:5', '8:27', '11:18', '17:41']

  it('are reported at once by tools import, each with its position and a hint', async () => {
    const file = tempFile('many.yaml', `tooldex: 1\n\ntools:\n${tools}`)
    const { code, err } = await run('tools', 'import', file)
    expect(code).toBe(3)
    for (const place of expected) expect(err).toContain(`${file}:${place}: `)
    expect(err).toContain('(write it like send_report)')
    expect(err).toContain("unknown key 'displayNmae'. Did you mean 'displayName'? (allowed keys: name, displayName, ")
    expect(err).toMatch(/^error: \S+many\.yaml was refused: 5 problems\.\n/)
  })

  it('are reported at once by apply, those of all files and scripts together', async () => {
    const folder = tempFolder()
    const file = tempFile('many.yaml', `tooldex: 1\n\ntools:\n${tools}`, folder)
    const head = 'name: beside\ndisplayName: 7\ndescription: Runs a script.\ninputSchema: { type: object }\n'
    const one = tempFile('one.yaml', `${head}scriptFile: ./beside.py\n`, folder)
    tempFile('beside.py', 'def main(:\n', folder)
    const none = tempFile('two.yaml', 'name: gone\nscriptFile: ./gone.py\ndisplayName: G\nstatus: ACTIVE\n', folder)
    const { code, err } = await run('apply', folder)
    expect(code).toBe(3)
    for (const place of expected) expect(err).toContain(`${file}:${place}: `)
    expect(err).toContain(`${one}:2:14: `)
    expect(err).toMatch(/beside\.py:1:10: the script is not valid Python/)
    expect(err).toContain(`${none}:2:13: scriptFile: there is no file ./gone.py`)
    expect(err).not.toContain('needs a script')
    expect(err).toMatch(/ was refused: 10 problems\.\n/)
    expect((await run('tools', 'get', 'deep')).err).toContain('Unknown tool: deep.')
  })

  it('are reported as far as possible where the registry is unavailable', async () => {
    const folder = tempFolder()
    tempFile('many.yaml', `tooldex: 1\ntools:\n${tools}`, folder)
    const away = async () => {
      throw new TooldexError('UNAVAILABLE', 'Nobody answers.')
    }
    const { code, err } = await runInProcess(['apply', folder], { openRegistry: away })
    expect([code, err]).toEqual([3, expect.stringMatching(/ was refused: 2 problems\.\n/)])
  })

  it('are reported in plain words, with the next step', async () => {
    const file = tempFile('one.yaml', 'name: Bad Name\ndisplayName: 7\n')
    const two = await run('tools', 'create', file)
    expect(two.err).toMatch(/^error: The tool was refused: 5 problems\.\n/)
    expect(two.err).toMatch(/\nnext: Fix the file, then run the same command again\.\n$/)
    const inside = tempFile('inside.yaml', camel.replace('camel_tool', 'inside').replace('https:', 'ftp:'))
    const deep = await run('tools', 'create', inside)
    expect(deep.err).toMatch(/^error: The tool inside was refused: .*url must start with https/)
    expect(deep.err).toContain('next: Fix the file, then run the same command again.\n')
    const limit = await run('tools', 'list', '--limit', '1000')
    expect(limit.err).toMatch(/^error: The input was refused: limit must be at most 100, not 1000\.\n/)
  })

  it.each([
    ['OpenAI', [{ type: 'function', function: { name: 'a', description: 'A', parameters: { type: 'objekt' } } }], 8],
    ['MCP', { tools: [{ name: 'a', description: 'A', inputSchema: { type: 'objekt' } }] }, 7],
  ])('are reported by line and column in lists of %s', async (_, list, line) => {
    const file = tempFile('list.json', JSON.stringify(list, null, 2))
    const { code, err } = await run('tools', 'import', file)
    expect([code, err]).toEqual([2, expect.stringContaining(`${file}:${line}:17: 'objekt' is not a type`)])
  })

  it('are reported by line and column in a CLI config', async () => {
    const file = tempFile(
      'cli.yaml',
      'name: tooldex\ncommand: echo\ntools:\n  - name: say\n    description: Says it.\n',
    )
    const { code, err } = await run('tools', 'import', file)
    expect([code, err]).toEqual([2, expect.stringMatching(/cli\.yaml:4:5: the namespace 'tooldex' is reserved/)])
  })
})

it('an export to the file - is written to standard output', async () => {
  const { code, out, err } = await run('tools', 'export', '-')
  expect([code, out, err]).toEqual([0, expect.stringMatching(/^tooldex: 1\n/), ''])
  expect(existsSync('-')).toBe(false)
})

describe('lists of tools that others write', () => {
  const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
  const openai = [
    { type: 'function', function: { name: 'getWeather', description: 'Tells the weather.', parameters: schema } },
  ]
  const mcp = {
    tools: [{ name: 'find-city', title: 'Find a city', description: 'Finds a city.', inputSchema: schema }],
  }

  it.each([
    ['OpenAI', openai, 'get_weather', 'getWeather'],
    ['MCP', mcp, 'find_city', 'find-city'],
  ] as const)('of %s are imported as drafts, with warnings', async (_, list, name, original) => {
    const file = tempFile('list.json', JSON.stringify(list))
    const dry = JSON.parse((await run('tools', 'import', file, '--dry-run', '--json')).out)
    expect(dry).toMatchObject({ applied: false, plan: { create: [name] } })
    const { code, out } = await run('tools', 'import', file, '--json')
    expect([code, JSON.parse(out)]).toMatchObject([0, { applied: true, plan: { create: [name] } }])
    expect(JSON.parse(out).warnings.join(' ')).toContain(`'${original}' was renamed to '${name}'`)
    expect(await get(name)).toMatchObject({
      status: 'DRAFT',
      inputSchema: schema,
      executorType: 'mcp',
      executorConfig: { tool: original },
    })
    const again = JSON.parse((await run('tools', 'import', file, '--json')).out)
    expect(again.plan).toMatchObject({ create: [], change: [], unchanged: 1 })
  })

  it('are rejected by file, line and column', async () => {
    const text =
      '[\n  {"type": "function", "function": {"name": "ok_tool", "parameters": {}}},\n  {"type": "function", "function": {"description": 7}}\n]'
    const file = tempFile('wrong.json', text)
    const { code, err } = await run('tools', 'import', file)
    expect([code, err]).toEqual([3, expect.stringMatching(new RegExp(`${file}:3:\\d+: `))])
  })
})

it('filters by a tag with a comma in it', async () => {
  const tagged = camel.replace('camel_tool', 'comma_tool')
  await run('tools', 'create', tempFile('comma.yaml', `${tagged}tags: ["red, green", blue]\n`))
  const list = async (query: string) => {
    const headers = { authorization: 'Bearer tdx_a_key_for_tests_only_0123456789' }
    const answer = await registry.app.request(`http://localhost/api/v1/tools?${query}`, { headers })
    return ((await answer.json()) as { items: { name: string }[] }).items.map(({ name }) => name)
  }
  expect(await list('tag=red%2C%20green')).toEqual([])
  expect(await list('tag=red%2C%20green&tag=')).toEqual(['comma_tool'])
  expect(await list('tag=red%2C%20green&tag=blue')).toEqual(['comma_tool'])
  expect(await list('tag=blue&tag=nothing')).toEqual([])
  const { out } = await run('tools', 'list', '--tag', 'red, green', '--json')
  expect(JSON.parse(out).items).toHaveLength(1)
})

describe('files that are nearly right', () => {
  it('are rejected once for a duplicate tool, by file', async () => {
    const folder = tempFolder()
    const first = tempFile('a.yaml', camel.replace('camel_tool', 'twin_tool'), folder)
    const second = tempFile('b.yaml', camel.replace('camel_tool', 'twin_tool'), folder)
    const { code, err } = await run('apply', folder)
    expect(code).toBe(3)
    expect(err).toContain(`${second}:1:7: the tool 'twin_tool' is already at ${first}:1:7`)
    expect(err.match(/✗/g)).toHaveLength(1)
    expect(err).not.toContain('/tools/')
  })

  it('are rejected with the missing fields, where they can only be a tool', async () => {
    for (const text of ['name: bare_tool\ndescription: Does it.\n', 'name: bare_tool\nexecutor_type: http\n']) {
      const folder = tempFolder()
      const file = tempFile('bare.yaml', text, folder)
      const { code, err } = await run('apply', folder)
      expect(code).toBe(3)
      expect(err).toContain(`${file}:1:1: inputSchema is required`)
    }
    const folder = tempFolder()
    tempFile('odd.yaml', 'colour: red\n', folder)
    expect((await run('apply', folder)).err).toContain(
      "a tool has 'name', 'displayName', 'description' and 'inputSchema'",
    )
  })

  it('may be the raw answer of an MCP server, with the places in it', async () => {
    const tool = { name: 'raw_tool', description: 'Does it.', inputSchema: { type: 'object' } }
    const answer = (result: object) => tempFile('list.json', JSON.stringify({ jsonrpc: '2.0', id: 1, result }, null, 1))
    const taken = await run('tools', 'import', answer({ tools: [tool], nextCursor: 'two' }), '--dry-run')
    expect([taken.code, taken.out]).toEqual([0, expect.stringContaining('+ tool raw_tool')])
    expect(taken.out).toContain('more pages follow')
    const wrong = await run('tools', 'import', answer({ tools: [{ ...tool, description: 7 }] }), '--dry-run')
    expect(wrong.code).toBe(3)
    expect(wrong.err).toMatch(/list\.json:8:20: .*description must be/)
  })
})
