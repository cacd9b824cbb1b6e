import { parse } from 'smol-toml'
import { describe, expect, it } from 'vitest'
import { setTomlTable } from './edit-toml-text.ts'

const table = { command: 'tooldex', args: ['run', 'git'] }
const set = (text: string, value: Record<string, string | string[]> = table) =>
  setTomlTable(text, ['mcp_servers', 'tooldex'], value, 'config.toml')
const own = '[mcp_servers.tooldex]\ncommand = "tooldex"\nargs = [ "run", "git" ]\n'

const before = `# How I like it.
model = "fast"   # or "slow"

[mcp_servers.other]   # not ours
command = 'x'
args = [
  "a", # first
]

[[rules]]
name = """
[not.a.table]
"""
`

describe('setTomlTable', () => {
  it('adds the table at the end and leaves everything else as it was written', () => {
    expect(set(before)).toBe(`${before}\n${own}`)
  })

  it('writes the table into an empty text', () => {
    expect(set('')).toBe(own)
    expect(set('\n\n')).toBe(own)
  })

  it('replaces the table with its sub-tables in place', () => {
    const mine = '[mcp_servers.tooldex]\ncommand = "old"\n\n[mcp_servers.tooldex.env]\nA = "1"\n\n'
    const text = before.replace('[[rules]]', `${mine}[[rules]]`)
    expect(set(text)).toBe(before.replace('[[rules]]', `${own}\n[[rules]]`))
  })

  it('keeps the comment over the table that follows', () => {
    const tail = '# About the next one.\n[next]\na = 1\n'
    const result = set(`[mcp_servers.tooldex]\ncommand = "old"\n\n${tail}`)
    expect(result).toBe(`${own}\n${tail}`)
  })

  it('changes nothing the second time', () => {
    expect(set(set(before))).toBe(set(before))
    const middle = `[mcp_servers.tooldex]\ncommand = "old"\n\n\n# x\n\n${before}`
    expect(set(set(middle))).toBe(set(middle))
  })

  it('knows its table however the name is written', () => {
    for (const header of ['[mcp_servers."tooldex"]', "[ mcp_servers . 'tooldex' ] # mine", '  [mcp_servers.tooldex]']) {
      expect(parse(set(`${header}\ncommand = "old"\n`))).toEqual({ mcp_servers: { tooldex: table } })
    }
  })

  it('does not take another table for its own', () => {
    const text = '[mcp_servers.tooldex2]\ncommand = "a"\n\n[x.mcp_servers.tooldex]\ncommand = "b"\n'
    expect(set(text)).toBe(`${text}\n${own}`)
  })

  it('quotes a name that needs it', () => {
    const result = setTomlTable('', ['mcp_servers', 'my tools'], table, 'config.toml')
    expect(result.split('\n')[0]).toBe('[mcp_servers."my tools"]')
    expect(setTomlTable(result, ['mcp_servers', 'my tools'], table, 'config.toml')).toBe(result)
  })

  it('keeps Windows line ends', () => {
    const result = set(before.replaceAll('\n', '\r\n'))
    expect(result).toBe(`${before}\n${own}`.replaceAll('\n', '\r\n'))
    expect(set(result)).toBe(result)
  })

  it('is not misled by a list whose lines begin with a bracket', () => {
    const text = '[mcp_servers.tooldex]\nargs = [\n  ["a"],\n]\n\n[next]\na = 1\n'
    expect(set(text)).toBe(`${own}\n[next]\na = 1\n`)
  })

  it.each([
    ['a = \n', /^config\.toml:1:\d+: is not valid TOML/],
    ['ok = 1\n[broken\n', /^config\.toml:2:\d+: is not valid TOML/],
  ])('reports the position of the error in %j', (text, message) => {
    expect(() => set(text)).toThrow(
      expect.objectContaining({ code: 'CLIENT_CONFIG_INVALID', message: expect.stringMatching(message) }),
    )
  })

  it.each([
    ['the group is written in line', 'mcp_servers = { other = { command = "x" } }\n'],
    ['the table is written in dotted keys', 'mcp_servers.tooldex.command = "x"\n'],
    ['the group is no table', 'mcp_servers = 5\n'],
    ['what looks like a header is part of a text', 'a = """\n[mcp_servers.tooldex]\n"""\n'],
  ])('rejects a file where %s', (_, text) => {
    const message = 'config.toml: cannot be changed without touching other settings.'
    expect(() => set(text)).toThrow(expect.objectContaining({ code: 'CLIENT_CONFIG_INVALID', message }))
  })
})
