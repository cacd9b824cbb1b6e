import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, ftruncateSync, mkdirSync, openSync, symlinkSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type ErrorCode, TooldexError } from '../../src/base/errors.ts'
import { createLogger } from '../../src/base/logger.ts'
import { LiveCatalogue } from '../../src/operations/live-catalogue.ts'
import { createCliSource, loadConfig } from '../../src/sources/cli/index.ts'
import { needs } from '../support/needs.ts'
import { runCli } from '../support/run-cli.ts'
import { tempFile, tempFolder } from '../support/temp-folder.ts'
import { residentBytes } from './processes.ts'

const megabyte = 1024 * 1024
const goodText = 'command: echo\ntools: [{name: good, description: d}]\n'
const good = () => tempFile('good.yaml', goodText)

/** The error of a file that must not load; a good file beside it loads all the same. */
function refusalOf(file: string): TooldexError {
  const { configs, failures } = createCliSource([good(), file]).load()
  expect(configs.map((loaded) => loaded.config.tools[0]?.name)).toEqual(['good'])
  expect(failures).toHaveLength(1)
  expect(failures[0]).toBeInstanceOf(TooldexError)
  return failures[0] as TooldexError
}

interface Place {
  readonly code?: ErrorCode
  /** `line:column` of each problem, as an editor counts. */
  readonly at: readonly string[]
  readonly says: RegExp
}

/** A text that must be refused, at these places. */
function expectRefused(content: string | Uint8Array, { code = 'CONFIG_INVALID', at, says }: Place): string {
  const file = tempFile('bad.yaml', content)
  const error = refusalOf(file)
  expect(error.code).toBe(code)
  expect(error.problems.map(({ line, column }) => `${line}:${column}`)).toEqual(at)
  for (const problem of error.problems) expect(problem.file).toBe(file)
  expect(error.problems.map((problem) => problem.message).join('\n')).toMatch(says)
  return file
}

describe('fault 1: an alias bomb', () => {
  const levels = Array.from({ length: 12 }, (_, level) => {
    const item = level === 0 ? '"lol"' : `*a${level - 1}`
    return `a${level}: &a${level} [${Array(9).fill(item).join(', ')}]`
  })
  const bomb = `${levels.join('\n')}\ncommand: echo\ntools: []\n`

  it('fault 1: of 12 levels by 9 is refused in less than 100 ms and 50 MB', () => {
    loadConfig(good())
    const file = tempFile('bomb.yaml', bomb)
    const [started, before] = [performance.now(), residentBytes()]
    const error = refusalOf(file)
    expect(performance.now() - started).toBeLessThan(100)
    expect(residentBytes() - before).toBeLessThan(50 * megabyte)
    expect(error.problems).toEqual([
      { severity: 'error', file, line: 1, column: 1, message: expect.stringMatching(/alias/) },
    ])
  })

  it('fault 1: validate says so and exits with 3', async () => {
    const file = tempFile('bomb.yaml', bomb)
    const { code, stdout } = await runCli(['validate', file, good()])
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
    'tags and lists': '- !t '.repeat(20_000),
  }

  it.each(Object.entries(texts))('fault 2: of %s is refused, and the stack holds', (name, text) => {
    const started = performance.now()
    const { code, problems } = refusalOf(tempFile('deep.yaml', `command: echo\ntools:\n  ${text}\n`))
    expect(code).toBe('CONFIG_INVALID')
    expect(problems[0]).toMatchObject({ line: expect.any(Number), column: expect.any(Number) })
    if (name !== 'tags and lists')
      expect(problems.map((problem) => problem.message)).toEqual(['is nested more than 200 levels deep'])
    expect(performance.now() - started).toBeLessThan(5000)
  })

  it('fault 2: all of them in one process, one after the other, leave it standing', async () => {
    const files = Object.values(texts).map((text, index) => tempFile(`deep-${index}.yaml`, text))
    const { code, stdout, stderr } = await runCli(['validate', '--json', ...files, good()])
    expect([code, stderr]).toEqual([3, ''])
    expect(JSON.parse(stdout)).toMatchObject({ valid: 1, invalid: files.length })
  })

  it('fault 2: JSON on one line with many keys is not deep', () => {
    const tools = Array.from({ length: 1000 }, (_, index) => ({ name: `t${index}`, description: 'a: b: c' }))
    expect(loadConfig(tempFile('wide.yaml', JSON.stringify({ command: 'echo', tools }))).tools).toHaveLength(1000)
  })
})

describe('fault 3: a huge file', () => {
  it('fault 3: of 100 MB is refused by its size, unread', async () => {
    const file = join(tempFolder(), 'huge.yaml')
    const descriptor = openSync(file, 'w')
    ftruncateSync(descriptor, 100 * megabyte)
    closeSync(descriptor)
    const [started, before] = [performance.now(), residentBytes()]
    const error = refusalOf(file)
    expect(performance.now() - started).toBeLessThan(100)
    expect(residentBytes() - before).toBeLessThan(20 * megabyte)
    expect([error.code, error.message]).toEqual([
      'FILE_REFUSED',
      expect.stringContaining(`${file} has 104857600 bytes`),
    ])
    const { code, stdout } = await runCli(['validate', file])
    expect([code, stdout]).toEqual([3, expect.stringContaining('104857600 bytes')])
  })
})

describe('fault 4: a key twice', () => {
  it.each([
    ['at the top', 'command: echo\ntools: []\ncommand: cat\n', '3:1'],
    ['in a tool', 'command: echo\ntools:\n  - name: a\n    description: d\n    name: b\n', '5:5'],
    ['in flow style', 'command: echo\ntools: [{name: a, description: d, name: b}]\n', '2:35'],
    ['in env', 'command: echo\nenv: {A: "1", A: "2"}\ntools: []\n', '2:15'],
  ])('fault 4: %s is an error where it stands the second time', async (_, text, at) => {
    const file = expectRefused(text, { at: [at], says: /unique/ })
    const { code, stdout } = await runCli(['validate', file])
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

  it('fault 5: the last one wins, with one warning and one entry, in the same order every time', () => {
    const files = [first(), second()]
    const orders = Array.from({ length: 3 }, () => {
      const lines: string[] = []
      const logger = createLogger({ level: 'WARNING', stderr: (line) => lines.push(line) })
      const { index, entries } = new LiveCatalogue({ source: createCliSource(files), logger }).current()
      expect(lines).toEqual([
        expect.stringMatching(/ WARNING tool 'same' is defined more than once; the one in 'second' is used/),
      ])
      expect([index.size, index.get('same')?.baseCommand]).toEqual([2, 'echo second'])
      return entries.map((entry) => `${entry.toolName} ${entry.description}`)
    })
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

describe('fault 8: encodings', () => {
  const text = 'command: echo\ndescription: "grün €"\ntools: [{name: a, description: "d"}]\n'
  const described = (content: string | Uint8Array) => loadConfig(tempFile('text.yaml', content)).description

  it('fault 8: a byte order mark is passed over', () => {
    expect(described(`\ufeff${text}`)).toBe('grün €')
  })

  it('fault 8: CRLF and CR are ends of lines', () => {
    expect(described(text.replaceAll('\n', '\r\n'))).toBe('grün €')
    expectRefused(text.replaceAll('\n', '\r\n').replace('command: echo', 'command: 1'), {
      at: ['1:10'],
      says: /command must be a text/,
    })
  })

  it('fault 8: Latin-1 is refused where it stops being UTF-8', async () => {
    const file = expectRefused(Buffer.from(text.replace('€', ''), 'latin1'), {
      code: 'FILE_REFUSED',
      at: ['2:17'],
      says: /not UTF-8/,
    })
    const { code, stdout } = await runCli(['validate', file])
    expect([code, stdout]).toEqual([3, expect.stringContaining(`${file}:2:17: is not UTF-8 here`)])
  })

  it('fault 8: UTF-16, with and without a mark, and a NUL are refused', () => {
    expectRefused(Buffer.from(text, 'utf16le'), { code: 'FILE_REFUSED', at: ['1:2'], says: /NUL/ })
    expectRefused(Buffer.from(`\ufeff${text}`, 'utf16le'), {
      code: 'FILE_REFUSED',
      at: [expect.any(String) as string],
      says: /NUL/,
    })
    expectRefused(text.replace('grün', 'gr\0n'), { code: 'FILE_REFUSED', at: ['2:17'], says: /NUL/ })
  })

  it('fault 8: half a character at the end is refused there', () => {
    const bytes = Buffer.from(`${text}# €`)
    expectRefused(bytes.subarray(0, bytes.length - 1), { code: 'FILE_REFUSED', at: ['4:3'], says: /not UTF-8/ })
  })
})

describe('fault 9: what is missing or of the wrong type', () => {
  it.each([
    ['an empty command', 'command: ""\ntools: []\n', ['1:10'], /command must not be empty/],
    ['a command of spaces', 'command: "  "\ntools: []\n', ['1:10'], /command must name a program/],
    ['no command and no tools', 'name: x\n', ['1:1', '1:1'], /command is required\n.*tools is required/],
    ['an empty file', '', ['1:1'], /the file is empty/],
    ['a list', '- a\n', ['1:1'], /not a mapping/],
    ['a text', 'hello\n', ['1:1'], /not a mapping/],
    ['two documents', 'command: echo\ntools: []\n---\ncommand: x\ntools: []\n', ['3:1'], /multiple documents/],
    ['a quote that is never closed', 'command: "git \'log"\ntools: []\n', ['1:10'], /never closed/],
  ])('fault 9: %s', (_, text, at, says) => {
    expectRefused(text, { at, says })
  })

  const many = [
    'command: 5',
    'env: {COUNT: 3}',
    'tools:',
    '  - name: a',
    '  - description: d',
    '    args: [{name: x, type: text}, {type: string}, {name: y, required: maybe}]',
    '    timeout: -1',
  ].join('\n')

  it('fault 9: every one of many is named, at its place', async () => {
    const says =
      /command must be a text.*env\.COUNT must be a text.*tools\[0\]\.description is required.*tools\[1\]\.name is required.*args\[0\]\.type must be one of.*args\[1\]\.name is required.*args\[2\]\.required must be true or false.*timeout/s
    const at = ['1:10', '2:14', '4:5', '5:5', '6:28', '6:35', '6:71', '7:14']
    const file = expectRefused(`${many}\n`, { at, says })
    const { code, stdout } = await runCli(['validate', file])
    expect(code).toBe(3)
    for (const place of at) expect(stdout).toContain(`${file}:${place}: `)
  })

  it('fault 9: unknown fields are warnings, and errors under --strict', async () => {
    const text =
      'command: echo\ncomand: x\ntools:\n  - {name: a, description: d, arguments: [], args: [{name: x, requird: true}]}\n'
    const file = tempFile('typos.yaml', text)
    const relaxed = await runCli(['validate', file])
    const strict = await runCli(['validate', '--strict', file])
    expect([relaxed.code, strict.code]).toEqual([0, 3])
    for (const { stdout } of [relaxed, strict]) {
      expect(stdout).toContain(`${file}:2:1: unknown key 'comand'. Did you mean 'command'?`)
      expect(stdout).toContain(`${file}:4:31: unknown key 'arguments'`)
      expect(stdout).toContain(`${file}:4:63: unknown key 'requird'. Did you mean 'required'?`)
    }
  })

  it('fault 9: run leaves a bad file out, says why, and serves the rest; with nothing left it exits with 3', async () => {
    const bad = tempFile('bad.yaml', `${many}\n`)
    const listed = await runCli(['list', '--json', good(), bad])
    expect(listed.code).toBe(0)
    expect(JSON.parse(listed.stdout)).toMatchObject({ tools: [{ name: 'good' }] })
    expect(listed.stderr).toContain(`left out: ${bad}:1:10: command must be a text`)
    const nothing = await runCli(['run', bad, '/no/such/file.yaml'])
    expect([nothing.code, nothing.stdout]).toEqual([3, ''])
    expect(nothing.stderr).toContain(`${bad}:1:10: `)
    expect(nothing.stderr).toContain('/no/such/file.yaml does not exist')
  })
})

describe('fault 10: files that are no files', () => {
  const needsUnix = needs(process.platform !== 'win32', 'needs links, pipes and devices')
  const refused = async (path: string, says: RegExp) => {
    const started = performance.now()
    expect(refusalOf(path)).toMatchObject({ code: 'FILE_REFUSED', message: expect.stringMatching(says) })
    const { code, stdout } = await runCli(['validate', path])
    expect([code, stdout]).toEqual([3, expect.stringMatching(says)])
    expect(performance.now() - started).toBeLessThan(5000)
  }

  needsUnix('fault 10: a symbolic link, to a good file too, is refused and names its target', async () => {
    const target = good()
    const link = join(tempFolder(), 'link.yaml')
    symlinkSync(target, link)
    await refused(link, /is a symbolic link/)
    expect(refusalOf(link).hint).toContain(target)
  })

  needsUnix('fault 10: links that lead to nothing or to themselves are refused', async () => {
    const folder = tempFolder()
    symlinkSync('/no/such/file', join(folder, 'nothing.yaml'))
    symlinkSync('loop', join(folder, 'loop'))
    await refused(join(folder, 'nothing.yaml'), /is a symbolic link/)
    await refused(join(folder, 'loop', 'x.yaml'), /is a symbolic link/)
  })

  needsUnix('fault 10: a FIFO is refused without waiting for a writer', async () => {
    const fifo = join(tempFolder(), 'fifo.yaml')
    execFileSync('mkfifo', [fifo])
    await refused(fifo, /is not a regular file/)
    const writer = spawn('sh', ['-c', `echo 'command: echo' > ${fifo}`])
    onTestFinished(() => void writer.kill())
    await refused(fifo, /is not a regular file/)
  })

  needsUnix('fault 10: devices are refused', async () => {
    await refused('/dev/zero', /is not a regular file/)
    await refused('/dev/null', /is not a regular file/)
  })

  needsUnix('fault 10: a folder and a socket are refused', async () => {
    const folder = join(tempFolder(), 'folder.yaml')
    mkdirSync(folder)
    await refused(folder, /is a folder/)
    const socket = join(tempFolder(), 'socket.yaml')
    const server = createServer().listen(socket)
    onTestFinished(() => void server.close())
    await once(server, 'listening')
    await refused(socket, /cannot be read \(ENXIO\)|is not a regular file/)
  })

  needsUnix('fault 10: /proc/self/mem and other files without a size are bounded', () => {
    expect(refusalOf('/proc/self/environ').code).toMatch(/FILE_REFUSED|CONFIG_INVALID/)
    expect(refusalOf('/proc/kallsyms').code).toMatch(/FILE_REFUSED|CONFIG_INVALID/)
  })
})

describe('fault 11: arguments that contradict themselves', () => {
  const withArgs = (args: string) => `command: echo\ntools:\n  - name: a\n    description: d\n    args: ${args}\n`

  it.each([
    [
      'a default outside its enum',
      '[{name: x, enum: [a, b], default: c}]',
      ['5:45'],
      /default "c" is not one of: a, b/,
    ],
    [
      'a default of the wrong type',
      '[{name: x, type: integer, default: many}]',
      ['5:46'],
      /default "many" is not of type integer/,
    ],
    [
      'an enum value of the wrong type',
      '[{name: x, type: integer, enum: [1, two]}]',
      ['5:43'],
      /enum value "two" is not of type integer/,
    ],
    ['required and a default', '[{name: x, required: true, default: 1}]', ['5:47'], /required and has a default/],
    [
      'two positionals in one place',
      '[{name: x, positional: 1}, {name: y, positional: 1}]',
      ['5:60'],
      /position 1 already/,
    ],
    ['two arguments of one name', '[{name: x}, {name: x}]', ['5:30'], /two arguments are called 'x'/],
    ['positional with a flag', '[{name: x, positional: true, flag: --x}]', ['5:46'], /positional and has a flag/],
    ['folder and stdin at once', '[{name: x, cwd: true, stdin: true}]', ['5:40'], /both cwd and stdin/],
    ['a root without a path', '[{name: x, root: /tmp}]', ['5:28'], /has a root but is not of type 'path'/],
  ])('fault 11: %s', (_, args, at, says) => {
    expectRefused(withArgs(args), { at, says })
  })

  it('fault 11: the same at once are all named', async () => {
    const file = tempFile('bad.yaml', withArgs('[{name: x, enum: [a], default: b, required: true}, {name: x}]'))
    const { code, stdout } = await runCli(['validate', file])
    expect(code).toBe(3)
    for (const text of ['is not one of: a', 'required and has a default', "two arguments are called 'x'"])
      expect(stdout).toContain(text)
  })
})
