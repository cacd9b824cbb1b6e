import { describe, expect, it } from 'vitest'
import { composeProcess } from '../src/app/compose.ts'
import { invoke } from '../src/operations/invoke.ts'
import { validateConfigs } from '../src/operations/server/validate-configs.ts'
import { tempFile } from './support/temp-folder.ts'

/** `line:column severity message (hint)` of everything said about a text. */
async function validate(text: string): Promise<readonly string[]> {
  const { files } = await invoke(
    validateConfigs,
    { configs: [tempFile('c.yaml', text)] },
    composeProcess({ configs: [] }),
  )
  return (files[0]?.problems ?? []).map(({ line, column, severity, message, hint }) => {
    return `${line}:${column} ${severity} ${message}${hint === undefined ? '' : ` (${hint})`}`
  })
}

const withArgs = (args: string) => `command: echo\ntools: [{name: a, description: d, args: [${args}]}]\n`

describe('validate', () => {
  it('names wrong types, contradictions and oddities together, in the order of the lines', async () => {
    const text = `command: "echo 'x"
colour: red
tools:
  - name: a
    description: 5
    args:
      - { name: x, enum: [a], default: b }
      - { name: y, required: maybe }
      - { name: y, flag: foo }
  - description: d
`
    expect(await validate(text)).toEqual([
      "1:10 warning command: a ' is never closed, so quotes are ignored and it is split at spaces (close the quotes)",
      "2:1 warning unknown key 'colour'.",
      '5:18 error tools[0].description must be a string, not a number (put it in quotes: "5")',
      `7:40 warning argument 'x': default "b" is not one of: a`,
      '8:30 error tools[0].args[1].required must be a boolean, not a string',
      "9:17 warning two arguments are called 'y'",
      "9:26 warning argument 'y': the flag 'foo' does not begin with a dash (write --foo, or foo= for one word with the value)",
      '10:5 error tools[1].name is required',
    ])
  })

  it('reports nothing that depends on an invalid value', async () => {
    expect(await validate(withArgs('{name: p, type: pth, root: /tmp, default: 5}'))).toEqual([
      expect.stringContaining('type must be one of'),
    ])
    expect(await validate('command: echo\ntools: [{description: d}, {description: d}, 7]\n')).toEqual([
      '2:9 error tools[0].name is required',
      '2:27 error tools[1].name is required',
      '2:45 error tools[2] must be a mapping, not a number',
    ])
  })

  it.each([
    [
      'a tool twice',
      'command: echo\ntools: [{name: a, description: d}, {name: a, description: e}]\n',
      "called 'a' already",
    ],
    ['no tools', 'command: echo\ntools: []\n', 'tools is empty'],
    [
      'a folder that is not there',
      'command: echo\nworking_dir: /no/such/folder\ntools: [{name: a, description: d}]\n',
      "working_dir '/no/such/folder' is not a folder",
    ],
    ['a flag without a dash', withArgs('{name: x, flag: foo}'), "the flag 'foo' does not begin with a dash"],
  ])('warns of %s', async (_, text, message) => {
    expect(await validate(text)).toEqual([expect.stringMatching(/^2:\d+ warning /)])
    expect((await validate(text))[0]).toContain(message)
  })

  it('does not warn of flags that are meant as they are', async () => {
    const flags =
      '{name: a, flag: if=}, {name: b, flag: +b}, {name: c, flag: -c}, {name: d, flag: verbose, type: boolean}'
    expect(await validate(withArgs(flags))).toEqual([])
  })

  it('warns of two arguments in one place', async () => {
    const [problem] = await validate(withArgs('{name: x, positional: 1}, {name: y, positional: 1}'))
    expect(problem).toMatch(/warning argument 'y': another argument already has the position 1/)
  })

  it.each([
    ['positional: 1.5', 'positional must be a boolean, or an integer, not 1.5 (write 1 or 2)'],
    ['positional: -1', 'positional must be at least 0, not -1'],
    ['default: {a: 1}', "argument 'x': the default is neither a finite scalar nor a list of scalars; it is not used"],
  ])('explains %s in plain words', async (written, message) => {
    expect(await validate(withArgs(`{name: x, ${written}}`))).toEqual([expect.stringContaining(message)])
  })

  it.each([
    ['timeout: -1', 'timeout must be at least 0, not -1'],
    ['inherit_env: 5', 'inherit_env must be a boolean, or a sequence, not 5'],
  ])('explains %s of a tool in plain words', async (written, message) => {
    const text = `command: echo\ntools: [{name: a, description: d, ${written}}]\n`
    expect(await validate(text)).toEqual([expect.stringContaining(message)])
  })

  it.each([
    ['a: 1\n---\nb: 2\n', 'the file contains multiple documents (keep one, and remove the line ---)'],
    ['a: [1, 2\nb: 3\n', 'the closing ] is missing (close the bracket)'],
    ['a: "x\n', 'the closing quote is missing (close it, or remove the first one)'],
    ['a:\n\t- b\n', 'a tab is used as indentation (indent with spaces)'],
    ['a: @x\n', 'an unquoted scalar cannot start with @ (put it in quotes)'],
    ['a: "\\q"\n', '\\q is not a valid escape sequence in double quotes'],
    ['a: !!js/f "f"\n', 'the tag !!js/f is not supported'],
    ['a: [x y: z, "b"c]\n', 'a comma is missing'],
    ['a: b: c\n', 'expected one key with its value'],
    ['a: "b" c\n', 'unexpected text'],
    ['a: &x &y 1\n', 'invalid anchor or alias'],
  ])('reports the problem of %j and its fix, once', async (text, message) => {
    expect(await validate(text)).toEqual([expect.stringContaining(message)])
  })
})
