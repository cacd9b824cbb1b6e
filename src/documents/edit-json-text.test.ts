import { describe, expect, it } from 'vitest'
import { setInJsonText } from './edit-json-text.ts'

const path = ['mcpServers', 'tooldex']
const server = { command: 'tooldex', args: ['run', 'git'] }
const set = (text: string, value: unknown = server) => setInJsonText(text, path, value, 'client.json')

const written = `{
  // The theme comes first.
  "theme": "dark",   /* kept as it is */
  "mcpServers": {
    "other": { "command": "x",
               "args": [1,2,3] }
  },
  "last": [ 1, 2 ]
}
`

describe('setInJsonText', () => {
  it('adds a value and leaves comments and formatting of the rest alone', () => {
    const result = set(written)
    expect(result).toBe(
      written.replace(
        '"args": [1,2,3] }',
        `"args": [1,2,3] },
    "tooldex": {
      "command": "tooldex",
      "args": [
        "run",
        "git"
      ]
    }`,
      ),
    )
  })

  it('replaces a value that is there, and nothing else', () => {
    const text = written.replace('"other": {', '"tooldex": { "command": "old" }, // mine\n    "other": {')
    const result = set(text, { command: 'new' })
    expect(result).toContain('"command": "new"')
    expect(result).not.toContain('"old"')
    expect(result).toContain('// mine\n    "other": { "command": "x",\n               "args": [1,2,3] }')
    expect(result).toContain('"theme": "dark",   /* kept as it is */')
  })

  it('changes nothing the second time', () => {
    expect(set(set(written))).toBe(set(written))
  })

  it.each(['', '  \n', '{}', '{\n}\n'])('starts from %j', (text) => {
    expect(JSON.parse(set(text))).toEqual({ mcpServers: { tooldex: server } })
  })

  it('keeps tabs, Windows line ends and trailing commas', () => {
    const tabs = '{\n\t"a": 1\n}\n'
    expect(set(tabs)).toContain('\n\t"mcpServers": {\n\t\t"tooldex": {')
    const windows = set('{\r\n  "a": 1\r\n}\r\n')
    expect(windows.replaceAll('\r\n', '')).not.toContain('\n')
    const trailing = set('{\n  "mcpServers": {\n    "a": {},\n  },\n}\n')
    expect(trailing).toContain('"a": {},')
    expect(trailing).toContain('"tooldex": {')
  })

  it('leaves a comment after the last property where it was', () => {
    expect(set('{\n  "mcpServers": {\n    "a": {} // mine, all mine\n  }\n}\n', 1)).toBe(
      '{\n  "mcpServers": {\n    "a": {}, // mine, all mine\n    "tooldex": 1\n  }\n}\n',
    )
    expect(set('{ /* none yet */ }', 1)).toBe('{ /* none yet */\n  "mcpServers": {\n    "tooldex": 1\n  }\n}')
  })

  it('keeps a byte order mark', () => {
    expect(set('\ufeff{}\n', 1)).toBe('\ufeff{\n  "mcpServers": {\n    "tooldex": 1\n  }\n}\n')
  })

  it.each([
    ['{\n  "a": 1\n  "b": 2\n}', 'client.json:3:3: is not valid JSON (CommaExpected).'],
    ['{\n  "a": }', 'client.json:2:8: is not valid JSON (ValueExpected).'],
    ['{ "a": 1', 'client.json:1:9: is not valid JSON (CloseBraceExpected).'],
    ['{} {}', 'client.json:1:4: is not valid JSON (EndOfFileExpected).'],
    ['nonsense', 'client.json:1:1: is not valid JSON (InvalidSymbol).'],
    ['// only a comment', 'client.json:1:18: is not valid JSON (ValueExpected).'],
  ])('reports the position of the error in %j', (text, message) => {
    expect(() => set(text)).toThrow(expect.objectContaining({ code: 'CLIENT_CONFIG_INVALID', message }))
  })

  it.each([
    ['[]', 'client.json: the file is not an object.'],
    ['null', 'client.json: the file is not an object.'],
    ['{"mcpServers": []}', 'client.json: "mcpServers" is not an object.'],
    ['{"mcpServers": "x"}', 'client.json: "mcpServers" is not an object.'],
    ['{"mcpServers": null}', 'client.json: "mcpServers" is not an object.'],
  ])('does not write over %j', (text, message) => {
    expect(() => set(text)).toThrow(expect.objectContaining({ code: 'CLIENT_CONFIG_INVALID', message }))
  })
})
