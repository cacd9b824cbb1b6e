import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { hasInvisible } from '../../src/base/invisible-characters.ts'
import { parseConfig } from '../../src/sources/cli/index.ts'
import { connect, revisions } from '../support/connect.ts'
import { runCli } from '../support/run-cli.ts'
import { runInline } from '../support/run-here.ts'
import { tempFile, tempFolder } from '../support/temp-folder.ts'

describe('fault 12: texts that hide something', () => {
  const hidden = [
    ['zero-width space', '\u200b', '\\u{200b}'],
    ['bidirectional override', '\u202e', '\\u{202e}'],
    ['escape sequence', '\u001b[31m', '\\u{1b}[31m'],
    ['carriage that overwrites', '\u0008', '\\u{8}'],
    ['tag character', '\u{e0041}', '\\u{e0041}'],
    ['soft hyphen', '\u00ad', '\\u{ad}'],
    ['byte order mark within', '\ufeff', '\\u{feff}'],
  ] as const
  const all = hidden.map(([, character]) => character).join('x')
  const shown = hidden.map(([, , escaped]) => escaped).join('x')

  /** A config whose every text has something hidden; JSON writes what YAML may not hold as it is. */
  const trap = () => {
    const args = [{ name: 'word', description: `arg ${all}` }]
    const tools = [{ name: 't', description: `tool ${all}`, example_requests: [`example ${all}`], args }]
    return tempFile(
      'trap.yaml',
      `${JSON.stringify({ name: 'trap', description: `config ${all}`, command: 'echo', tools })}\n`,
    )
  }
  const expectVisible = (text: string) => {
    expect(hasInvisible(text)).toBe(false)
    expect(text).toContain('\\u{202e}')
  }

  it.each(hidden)(
    'fault 12: a %s in a description is flagged by validate at its place, and shown',
    async (_, character, escaped) => {
      const text = `command: echo\ntools:\n  - name: t\n    description: ${JSON.stringify(`see ${character}this`)}\n`
      const file = tempFile('hidden.yaml', text)
      const { code, stdout } = await runInline(['validate', file])
      expect([code, hasInvisible(stdout)]).toEqual([0, false])
      const flagged = stdout.split('\n').find((line) => line.includes('tools[0].description has invisible characters'))
      expect(flagged).toContain(`${file}:4:18: `)
      expect(flagged?.replaceAll('\\\\', '\\')).toContain(`see ${escaped}this`)
    },
  )

  it('fault 12: nothing hidden, nothing flagged', async () => {
    const file = tempFile(
      'plain.yaml',
      'command: echo\ntools: [{name: t, description: "Grün, 漢字, 👩 and a\\nnew line"}]\n',
    )
    const { stdout } = await runInline(['validate', file])
    expect(stdout).not.toContain('invisible')
  })

  it('fault 12: it is shown in the table of list, in search and in describe', async () => {
    const file = trap()
    for (const words of [
      ['list', file],
      ['search', 'tool', '-c', file],
      ['describe', 't', '-c', file],
    ]) {
      const { code, stdout } = await runCli([...words])
      expect(code).toBe(0)
      expectVisible(stdout)
    }
  })

  it('fault 12: it is escaped in the log and on stderr', async () => {
    const log = join(tempFolder(), 'tooldex.log')
    const { stderr } = await runCli(['list', trap()], { env: { TOOLDEX_LOG_FILE: log } })
    expectVisible(stderr)
    expectVisible(readFileSync(log, 'utf8'))
  })

  it.each(revisions)('fault 12: it is shown in everything an MCP client reads (%s)', async (revision) => {
    const { client } = await connect([trap()], { revision })
    const texts = async (name: string, given: Record<string, unknown>) => {
      const { content } = await client.callTool({ name, arguments: given })
      return (content as { text: string }[]).map((part) => part.text).join('\n')
    }
    expect(await texts('search_tools', { query: 'tool' })).toContain(shown)
    expectVisible(await texts('search_tools', { query: 'tool' }))
    expectVisible(await texts('search_tools', {}))
    expectVisible(await texts('describe_tool', { ids: ['t'], level: 'full' }))
    const classic = await connect(['--classic', trap()], { revision })
    const { tools } = await classic.client.listTools()
    expect(tools[0]?.description).toBe(`tool ${shown}`)
    expect(JSON.stringify(tools[0]?.inputSchema)).toContain('u{202e}')
    expect(hasInvisible(JSON.stringify(tools))).toBe(false)
  })
})

describe('fault 14: values and their types, as in YAML 1.2', () => {
  const rows: readonly (readonly [string, unknown])[] = [
    ['no', 'no'],
    ['No', 'No'],
    ['yes', 'yes'],
    ['on', 'on'],
    ['off', 'off'],
    ['y', 'y'],
    ['n', 'n'],
    ['true', true],
    ['True', true],
    ['TRUE', true],
    ['false', false],
    ['~', null],
    ['null', null],
    ['Null', null],
    ['', null],
    ['nil', 'nil'],
    ['0', 0],
    ['-0', -0],
    ['+7', 7],
    ['007', 7],
    ['017', 17],
    ['0o17', 15],
    ['0x1F', 31],
    ['0b11', '0b11'],
    ['1_000', '1_000'],
    ['1e3', 1000],
    ['1E-2', 0.01],
    ['.5', 0.5],
    ['5.', 5],
    ['1.5.2', '1.5.2'],
    ['12:30', '12:30'],
    ['12:30:45', '12:30:45'],
    ['2024-01-31', '2024-01-31'],
    ['2024-01-31T12:00:00Z', '2024-01-31T12:00:00Z'],
    ['"no"', 'no'],
    ["'0o17'", '0o17'],
    ['"1e3"', '1e3'],
    ['"~"', '~'],
    ['!!str 5', '5'],
    ['<<', '<<'],
    ['=', '='],
  ]

  it.each(rows)('fault 14: %s is %j', (written, value) => {
    const text = `command: echo\ntools:\n  - name: t\n    description: d\n    args:\n      - name: x\n        default: ${written}\n`
    const { config, warnings } = parseConfig(text, 'values.yaml')
    expect(config.tools[0]?.args[0]?.default).toBe(value)
    expect(warnings).toEqual([])
  })

  it('fault 14: the same in an enum, in order', () => {
    const written = ['no', '0o17', '1e3', '2024-01-31', 'true']
    const text = `command: echo\ntools: [{name: t, description: d, args: [{name: x, enum: [${written.join(', ')}]}]}]\n`
    expect(parseConfig(text, 'values.yaml').config.tools[0]?.args[0]?.enum).toEqual([
      'no',
      15,
      1000,
      '2024-01-31',
      true,
    ])
  })

  it.each(['.inf', '-.inf', '.nan'])(
    'fault 14: %s is a number no command line can show, so it is not used',
    (written) => {
      const text = `command: echo\ntools: [{name: t, description: d, args: [{name: x, type: number, default: ${written}}]}]\n`
      const { config, warnings } = parseConfig(text, 'values.yaml')
      expect([config.tools[0]?.args[0]?.default, warnings.length]).toEqual([undefined, 1])
      expect(() => parseConfig(text, 'values.yaml', { strict: true })).toThrow(
        expect.objectContaining({ code: 'CONFIG_INVALID' }),
      )
    },
  )

  it.each(['5', 'true', '~', '[a]'])('fault 14: %s where a text belongs is refused, not turned into one', (written) => {
    const text = `command: echo\nenv: {A: ${written}}\ntools: []\n`
    expect(() => parseConfig(text, 'values.yaml')).toThrow(
      expect.objectContaining({
        problems: [
          expect.objectContaining({ line: 2, column: 10, message: expect.stringMatching(/env\.A must be a string/) }),
        ],
      }),
    )
  })

  it.each([
    ['no', false],
    ['yes', true],
    ['1', true],
    ['"true"', true],
  ])('fault 14: %s where a boolean belongs is read as %s with a warning, and refused strictly', (written, value) => {
    const text = `command: echo\ntools: [{name: t, description: d, args: [{name: x, required: ${written}}]}]\n`
    const { config, warnings } = parseConfig(text, 'values.yaml')
    expect([config.tools[0]?.args[0]?.required, warnings.length]).toEqual([value, 1])
    expect(() => parseConfig(text, 'values.yaml', { strict: true })).toThrow(
      expect.objectContaining({ code: 'CONFIG_INVALID' }),
    )
  })

  it('fault 14: a program receives the values as read', async () => {
    const args =
      '[{name: a, flag: "a=", default: no}, {name: b, flag: "b=", default: 0o17}, {name: c, flag: "c=", default: 1e3}, {name: d, flag: "d=", default: ~}, {name: e, flag: "e=", default: 2024-01-31}]'
    const file = tempFile('values.yaml', `command: echo\ntools: [{name: t, description: d, args: ${args}}]\n`)
    const { stdout } = await runCli(['call', '-c', file, 't'])
    expect(stdout).toBe('a=no b=15 c=1000 e=2024-01-31\n')
  })
})

describe('fault 15: a variable that is not set', () => {
  const config =
    'command: printenv\nenv:\n  A: fixed\n  B: "Bearer ${TOOLDEX_TEST_UNSET}"\ntools: [{name: t, description: d, command: B}]\n'
  const unset = { TOOLDEX_TEST_UNSET: undefined }

  it('fault 15: is an error at its place, and not an empty text', async () => {
    const file = tempFile('env.yaml', config)
    const validated = await runInline(['validate', file], { env: unset })
    expect(validated.code).toBe(3)
    expect(validated.stdout).toContain(
      `${file}:4:6: env.B needs the environment variable TOOLDEX_TEST_UNSET, which is not set`,
    )
    const called = await runCli(['call', '-c', file, 't'], { env: unset })
    expect([called.code, called.stdout]).toEqual([3, ''])
    expect(called.stderr).toContain('TOOLDEX_TEST_UNSET')
  })

  it('fault 15: is an error again when it is unset after a run that had it', async () => {
    const file = tempFile('env.yaml', config)
    const set = await runCli(['call', '-c', file, 't'], { env: { TOOLDEX_TEST_UNSET: 'x' } })
    expect([set.code, set.stdout]).toEqual([0, 'Bearer x\n'])
    expect((await runCli(['call', '-c', file, 't'], { env: unset })).code).toBe(3)
  })

  it('fault 15: a default takes its place, and an empty variable is empty', async () => {
    const file = tempFile('env.yaml', config.replace('UNSET}', 'UNSET:-nobody}'))
    expect((await runCli(['call', '-c', file, 't'], { env: unset })).stdout).toBe('Bearer nobody\n')
    const empty = tempFile('env.yaml', config)
    expect((await runCli(['call', '-c', empty, 't'], { env: { TOOLDEX_TEST_UNSET: '' } })).stdout).toBe('Bearer \n')
  })

  it('fault 15: names of things every object has are not variables', () => {
    for (const name of ['constructor', 'toString', 'hasOwnProperty']) {
      const parse = () => parseConfig(config.replace('TOOLDEX_TEST_UNSET', name), 'env.yaml', { env: {} })
      expect(parse).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }))
    }
  })
})
