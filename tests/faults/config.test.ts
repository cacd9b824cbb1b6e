import { describe, expect, it } from 'vitest'
import { createLogger } from '../../src/base/logger.ts'
import { LiveCatalog } from '../../src/operations/catalog/live-catalog.ts'
import { createCliSource, loadConfig } from '../../src/sources/cli/index.ts'
import { runCli } from '../support/run-cli.ts'
import { runInline } from '../support/run-here.ts'
import { tempFile } from '../support/temp-folder.ts'
import { residentBytes } from './processes.ts'
import { expectRefused, expectTolerated, good, refusalOf } from './refusal.ts'

const megabyte = 1024 * 1024

describe('fault 1: an alias bomb', () => {
  const levels = Array.from({ length: 12 }, (_, level) => {
    const item = level === 0 ? '"lol"' : `*a${level - 1}`
    return `a${level}: &a${level} [${Array(9).fill(item).join(', ')}]`
  })
  const bomb = `${levels.join('\n')}\ncommand: echo\ntools: []\n`

  it('fault 1: of 12 levels by 9 is refused in less than 50 MB', () => {
    loadConfig(good())
    const file = tempFile('bomb.yaml', bomb)
    const before = residentBytes()
    const error = refusalOf(file)
    expect(residentBytes() - before).toBeLessThan(50 * megabyte)
    expect(error.problems).toEqual([
      { severity: 'error', file, line: 1, column: 1, message: expect.stringMatching(/alias/) },
    ])
  })

  it('fault 1: validate reports it and exits with 3', async () => {
    const file = tempFile('bomb.yaml', bomb)
    const { code, stdout } = await runInline(['validate', file, good()])
    expect([code, stdout]).toEqual([3, expect.stringContaining(`${file}:1:1: expands more than`)])
    expect(stdout).toContain('1 valid, 1 invalid')
  })

  it('fault 1: an alias within its own anchor is refused', () => {
    expectRefused('command: echo\ntools: &a [*a]\n', { at: ['2:12'], says: /alias/ })
  })

  it('fault 1: a few aliases are welcome', () => {
    const text =
      'command: echo\ntags: &t [a, b]\ntools: [{name: x, description: d, tags: *t}, {name: y, description: d, tags: *t}]\n'
    expect(loadConfig(tempFile('ok.yaml', text)).tools.map((tool) => tool.tags)).toEqual([
      ['a', 'b'],
      ['a', 'b'],
    ])
  })
})

describe('fault 2: nesting', () => {
  const deep = 100_000
  const texts: Record<string, string> = {
    'flow lists': '['.repeat(deep),
    'flow mappings': '{a: '.repeat(deep),
    'both in turn': '[{'.repeat(deep),
    'block lists': '- '.repeat(deep),
    'block lists with tabs': '-\t'.repeat(deep),
    'complex keys': '? '.repeat(deep),
    'complex keys with tabs': '?\t'.repeat(deep),
    'mappings on one line': 'a: '.repeat(deep),
    'mappings of nothing': ': '.repeat(deep),
    'mappings within flow lists': `${'[a: '.repeat(190)}${'b: '.repeat(deep)}`,
    'mappings by indentation': Array.from({ length: 3000 }, (_, level) => `${' '.repeat(level)}a:`).join('\n'),
    'lists by indentation': Array.from({ length: 3000 }, (_, level) => `${' '.repeat(level)}-`).join('\n'),
    'lists with tags': '- !t '.repeat(deep),
    'lists with anchors': '- &a '.repeat(deep),
  }

  it.each(Object.entries(texts))('fault 2: of %s is refused, and the stack holds', (_, text) => {
    const { code, problems } = refusalOf(tempFile('deep.yaml', `command: echo\ntools:\n  ${text}\n`))
    expect(code).toBe('CONFIG_INVALID')
    expect(problems[0]).toMatchObject({ line: expect.any(Number), column: expect.any(Number) })
    expect(problems.map((problem) => problem.message)).toEqual(['is nested more than 200 levels deep'])
  })

  it('fault 2: all of them in one process, one after the other, leave it standing', async () => {
    const files = Object.values(texts).map((text, index) => tempFile(`deep-${index}.yaml`, text))
    const { code, stdout, stderr } = await runInline(['validate', '--json', ...files, good()])
    expect([code, stderr]).toEqual([3, ''])
    expect(JSON.parse(stdout)).toMatchObject({ valid: 1, invalid: files.length })
  })

  it('fault 2: JSON on one line with many keys is not deep', () => {
    const tools = Array.from({ length: 1000 }, (_, index) => ({ name: `t${index}`, description: 'a: b: c' }))
    expect(loadConfig(tempFile('wide.yaml', JSON.stringify({ command: 'echo', tools }))).tools).toHaveLength(1000)
  })
})

describe('fault 4: a key twice', () => {
  it.each([
    ['at the top', 'command: echo\ntools: []\ncommand: cat\n', '3:1'],
    ['in a tool', 'command: echo\ntools:\n  - name: a\n    description: d\n    name: b\n', '5:5'],
    ['in flow style', 'command: echo\ntools: [{name: a, description: d, name: b}]\n', '2:35'],
    ['in env', 'command: echo\nenv: {A: "1", A: "2"}\ntools: []\n', '2:15'],
  ])('fault 4: %s is reported at its second position, and an error under --strict', async (_, text, at) => {
    const file = expectTolerated(text, { at: [at], says: /unique/ })
    const { code, stdout } = await runInline(['validate', '--strict', file])
    expect([code, stdout]).toEqual([3, expect.stringContaining(`${file}:${at}: `)])
  })
})

describe('fault 5: a tool twice', () => {
  const first = () =>
    tempFile(
      'first.yaml',
      'name: first\ncommand: echo first\ntools: [{name: same, description: one}, {name: other, description: d}]\n',
    )
  const second = () =>
    tempFile('second.yaml', 'name: second\ncommand: echo second\ntools: [{name: same, description: two}]\n')

  it('fault 5: the last one wins, with one warning and one entry, in the same order every time', async () => {
    const files = [first(), second()]
    const read = async () => {
      const lines: string[] = []
      const logger = createLogger({ level: 'WARNING', stderr: (line) => lines.push(line) })
      const tools = await new LiveCatalog({ source: createCliSource(files), logger }).open()
      expect(lines).toEqual([
        expect.stringMatching(/ WARNING tool 'same' is defined more than once; the one in 'second' is used/),
      ])
      expect([tools.size, tools.find('same')?.runnable?.resolved?.baseCommand]).toEqual([2, 'echo second'])
      return tools.list().map(({ tool }) => `${tool.name} ${tool.description}`)
    }
    const orders = [await read(), await read(), await read()]
    expect(new Set(orders.map((order) => order.join()))).toEqual(new Set(['other d,same two']))
  })

  it('fault 5: the command line warns once and calls the last one', async () => {
    const { code, stdout, stderr } = await runCli(['call', '-c', first(), '-c', second(), 'same'])
    expect([code, stdout]).toEqual([0, 'second\n'])
    expect(stderr.match(/defined more than once/g)).toHaveLength(1)
  })
})

describe('fault 6: names that reach into prototypes', () => {
  const polluted = () => expect(({} as { polluted?: unknown }).polluted).toBeUndefined()

  it.each([
    ['__proto__ at the top', '__proto__: {polluted: true}\ncommand: echo\ntools: []\n', '1:1'],
    ['"__proto__" in quotes', 'command: echo\n"__proto__": {polluted: true}\ntools: []\n', '2:1'],
    ['constructor at the top', 'command: echo\nconstructor: {prototype: {polluted: true}}\ntools: []\n', '2:1', '2:15'],
    ['__proto__ in env', 'command: echo\nenv: {__proto__: "x"}\ntools: []\n', '2:7'],
    [
      '__proto__ in a tool',
      'command: echo\ntools:\n  - {name: a, description: d, __proto__: {polluted: true}}\n',
      '3:31',
    ],
    [
      '__proto__ as the name of an argument',
      'command: echo\ntools:\n  - {name: a, description: d, args: [{name: __proto__}]}\n',
      '3:45',
    ],
    [
      'constructor as the name of an argument',
      'command: echo\ntools: [{name: a, description: d, args: [{name: constructor}]}]\n',
      '2:49',
    ],
    [
      'prototype as the name of a global argument',
      'command: echo\nglobal_args: [{name: prototype}]\ntools: []\n',
      '2:22',
    ],
  ])('fault 6: %s is refused', (_, text, ...at) => {
    expectRefused(text, { at, says: /__proto__|constructor|prototype/ })
    polluted()
  })

  it('fault 6: as arguments of a call they are unknown, and change nothing', async () => {
    const tool = '{name: t, description: d, args: [{name: word}]}'
    const config = tempFile('t.yaml', `command: echo\ntools: [${tool}]\n`)
    for (const name of ['constructor', 'prototype', 'toString']) {
      const { code, stdout } = await runCli([
        'call',
        '-c',
        config,
        '--json',
        '--args',
        `{"${name}": {"polluted": true}}`,
        't',
      ])
      expect([code, stdout]).toEqual([2, expect.stringContaining(`Unknown argument '${name}'`)])
    }
    const { stdout } = await runCli(['call', '-c', config, '--args', '{"__proto__": {"word": "polluted"}}', 't'])
    expect(stdout).not.toContain('polluted')
    polluted()
  })
})

describe('fault 7: tags', () => {
  it.each([
    '!!js/function "function () {}"',
    '!!python/object/apply:os.system ["id"]',
    '!unknown x',
    '!!binary aGk=',
    '!<tag:x,2000:y> z',
  ])('fault 7: %s is an error', (value) => {
    expectRefused(`command: echo\ndescription: ${value}\ntools: []\n`, { at: ['2:14'], says: /tag/ })
  })
})
