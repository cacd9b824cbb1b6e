import { describe, expect, it } from 'vitest'
import { parseConfig } from '../../src/sources/cli/parse-config.ts'
import { openTools } from './open-tools.ts'

const head = 'command: echo\ntools:\n  - name: t\n    description: d\n'
const withArg = (arg: string) => `${head}    args:\n      - { name: a, ${arg} }\n`
const aliases = Array.from({ length: 200 }, (_, index) => `  - {name: t${index}, description: d, args: [*arg]}\n`)

// Each of these loads with CLImax 0.3.0, whose reader is PyYAML with pydantic.
const accepted: readonly (readonly [what: string, text: string])[] = [
  ['required: yes', withArg('required: yes')],
  ['switches as words, texts and numbers', withArg('required: "on", positional: "1", cwd: off, stdin: 0')],
  ['a merge key', `base: &base { category: vcs }\n<<: *base\n${head}`],
  ['a merge key with a list', `<<: [{ category: vcs }, { tags: [x] }]\n${head}`],
  ['required with a default', withArg('required: true, default: 5')],
  ['positional with stdin', withArg('positional: true, stdin: true')],
  ['positional with a flag', withArg('positional: true, flag: --a')],
  ['a folder that is also stdin', withArg('cwd: true, stdin: true')],
  ['an apostrophe in command', head.replace('echo', `"echo it's"`)],
  ['an apostrophe in the command of a tool', `${head}    command: don't\n`],
  ['a key twice', `${head}    name: other\n`],
  ['a variable name that shells refuse', `env: { MY-VAR: x }\n${head}`],
  ['a default of another type', withArg('type: integer, default: many')],
  ['a default that is a mapping', withArg('default: { b: 1 }')],
  ['a default that is a list', withArg('default: [b, c]')],
  ['a default that is infinite', withArg('type: number, default: .inf')],
  ['a default outside the enum', withArg('enum: [b, c], default: d')],
  ['an enum value of another type', withArg('type: integer, enum: ["1", two]')],
  ['an enum value twice', withArg('enum: [b, b]')],
  ['two arguments of one name', `${head}    args: [{ name: a }, { name: a }]\n`],
  ['two positions that are the same', `${head}    args: [{ name: a, positional: 1 }, { name: b, positional: 1 }]\n`],
  ['an empty flag', withArg('flag: ""')],
  ['an empty name of an argument', `${head}    args: [{ name: "" }]\n`],
  ['an empty name of a tool', `${head}  - { name: "", description: d }\n`],
  ['an empty name of a config', `name: ""\n${head}`],
  ['a command that each tool completes', `command: ""\ntools: [{ name: t, description: d, command: echo x }]\n`],
  ['a timeout that is a text', `${head}    timeout: "30"\n`],
  ['a timeout in minutes and seconds', `${head}    timeout: 1:30\n`],
  ['a timeout below nought', `${head}    timeout: -1\n`],
  ['a name that YAML 1.2 reads as a number', head.replace('name: t', 'name: 1e3')],
]

describe('configs that CLImax loads', () => {
  it.each(accepted)('%s: loads with a warning, and is refused strictly', (_, text) => {
    const { config, warnings } = parseConfig(text, 'climax.yaml')
    expect(config.tools.length).toBeGreaterThan(0)
    expect(warnings.length).toBeGreaterThan(0)
    for (const { severity, line } of warnings) expect([severity, typeof line]).toEqual(['warning', 'number'])
    expect(() => parseConfig(text, 'climax.yaml', { strict: true })).toThrow(
      expect.objectContaining({ code: 'CONFIG_INVALID' }),
    )
  })

  it.each([
    ['many uses of one anchor', `x: &arg { name: a }\ncommand: echo\ntools:\n${aliases.join('')}`, 1],
    ['a directive of YAML 1.1', `%YAML 1.1\n---\nname: n\n${head}`, 0],
  ])('%s: loads as it is', (_, text, unknownKeys) => {
    const { config, warnings } = parseConfig(text, 'climax.yaml')
    expect(warnings).toHaveLength(unknownKeys)
    expect(config.tools[0]?.description).toBe('d')
  })

  it('reads values as CLImax does', () => {
    const text = `base: &base { category: vcs, tags: [a] }\n<<: *base\ntags: [own]\n${head}    timeout: 1:30\n    args:\n      - { name: a, required: yes, positional: "no" }\n      - { name: b, type: boolean, default: on, flag: "" }\n`
    const { config } = parseConfig(text, 'climax.yaml')
    expect(config).toMatchObject({ category: 'vcs', tags: ['own'] })
    expect(config.tools[0]).toMatchObject({
      timeout: 90,
      args: [
        { name: 'a', required: true, positional: false },
        { name: 'b', default: true },
      ],
    })
    expect(config.tools[0]?.args[1]?.flag).toBeUndefined()
  })

  it('runs them as CLImax does', async () => {
    const argv = async (text: string, given = {}) => openTools(text).argv('t', given)
    expect(await argv(head.replace('echo', `"echo it's"`))).toEqual(['echo', "it's"])
    expect(await argv(withArg('type: integer, default: many'))).toEqual(['echo', '--a', 'many'])
    expect(await argv(withArg('enum: [b, c], default: d'))).toEqual(['echo', '--a', 'd'])
    expect(await argv(withArg('positional: true, flag: --x'), { a: 'v' })).toEqual(['echo', 'v'])
    expect(await argv(withArg('positional: true, stdin: true'), { a: 'v' })).toEqual(['echo'])
    expect(await argv(withArg('default: { b: 1 }'))).toEqual(['echo'])
    expect(await argv(`command: ""\ntools: [{ name: t, description: d, command: echo x }]\n`)).toEqual(['echo', 'x'])
    await expect(argv(withArg('required: true, default: 5'))).rejects.toThrow("Missing required argument 'a'")
  })
})
