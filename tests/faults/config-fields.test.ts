import { describe, expect, it } from 'vitest'
import { runCli } from '../support/run-cli.ts'
import { runInline } from '../support/run-here.ts'
import { tempFile } from '../support/temp-folder.ts'
import { expectRefused, expectTolerated, good } from './refusal.ts'

describe('fault 9: missing fields and wrong types', () => {
  it.each([
    ['an empty command', 'command: ""\ntools: []\n', ['1:10'], /command must name a program/],
    ['a command of spaces', 'command: "  "\ntools: []\n', ['1:10'], /command must name a program/],
    ['no command and no tools', 'name: x\n', ['1:1', '1:1'], /command is required\n.*tools is required/],
    ['an empty file', '', ['1:1'], /the file is empty/],
    ['a list', '- a\n', ['1:1'], /not a mapping/],
    ['a text', 'hello\n', ['1:1'], /not a mapping/],
    ['two documents', 'command: echo\ntools: []\n---\ncommand: x\ntools: []\n', ['3:1'], /multiple documents/],
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
    '    timeout: soon',
  ].join('\n')

  it('fault 9: every one of many is named, at its place', async () => {
    const says =
      /command must be a string.*env\.COUNT must be a string.*tools\[0\]\.description is required.*tools\[1\]\.name is required.*args\[0\]\.type must be one of.*args\[1\]\.name is required.*args\[2\]\.required must be a boolean.*timeout/s
    const at = ['1:10', '2:14', '4:5', '5:5', '6:28', '6:35', '6:71', '7:14']
    const file = expectRefused(`${many}\n`, { at, says })
    const { code, stdout } = await runInline(['validate', file])
    expect(code).toBe(3)
    for (const place of at) expect(stdout).toContain(`${file}:${place}: `)
  })

  it('fault 9: unknown fields are warnings, and errors under --strict', async () => {
    const text =
      'command: echo\ncomand: x\ntools:\n  - {name: a, description: d, arguments: [], args: [{name: x, requird: true}]}\n'
    const file = tempFile('typos.yaml', text)
    const relaxed = await runInline(['validate', file])
    const strict = await runInline(['validate', '--strict', file])
    expect([relaxed.code, strict.code]).toEqual([0, 3])
    for (const { stdout } of [relaxed, strict]) {
      expect(stdout).toContain(`${file}:2:1: unknown key 'comand'. Did you mean 'command'?`)
      expect(stdout).toContain(`${file}:4:31: unknown key 'arguments'`)
      expect(stdout).toContain(`${file}:4:63: unknown key 'requird'. Did you mean 'required'?`)
    }
  })

  it('fault 9: run skips an invalid file with the reason, and serves the others; without any it exits with 3', async () => {
    const bad = tempFile('bad.yaml', `${many}\n`)
    const listed = await runCli(['list', '--json', good(), bad])
    expect(listed.code).toBe(0)
    expect(JSON.parse(listed.stdout)).toMatchObject({ tools: [{ name: 'good' }] })
    expect(listed.stderr).toContain(`left out: ${bad}:1:10: command must be a string`)
    const nothing = await runCli(['run', bad, '/no/such/file.yaml'])
    expect([nothing.code, nothing.stdout]).toEqual([3, ''])
    expect(nothing.stderr).toContain(`${bad}:1:10: `)
    expect(nothing.stderr).toContain('/no/such/file.yaml does not exist')
  })
})

describe('fault 11: arguments that contradict themselves are warnings, and errors where read strictly', () => {
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
      /already has the position 1/,
    ],
    ['two arguments of one name', '[{name: x}, {name: x}]', ['5:30'], /two arguments are called 'x'/],
    ['positional with a flag', '[{name: x, positional: true, flag: --x}]', ['5:46'], /positional and has a flag/],
    ['folder and stdin at once', '[{name: x, cwd: true, stdin: true}]', ['5:40'], /both cwd and stdin/],
  ])('fault 11: %s', (_, args, at, says) => {
    expectTolerated(withArgs(args), { at, says })
  })

  it('fault 11: a contradiction of keys that CLImax does not have is always an error', () => {
    const args = withArgs('[{name: x, root: /tmp}]')
    expectRefused(args, { at: ['5:28'], says: /has a root but is not of type 'path'/ })
  })

  it('fault 11: the same at once are all named', async () => {
    const file = tempFile('bad.yaml', withArgs('[{name: x, enum: [a], default: b, required: true}, {name: x}]'))
    const { code, stdout } = await runInline(['validate', '--strict', file])
    expect(code).toBe(3)
    for (const text of ['is not one of: a', 'required and has a default', "two arguments are called 'x'"])
      expect(stdout).toContain(text)
  })
})
