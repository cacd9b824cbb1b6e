import { expect, it } from 'vitest'
import { toServer, toServerChange, toServerForm } from './parse-server.ts'

const form = {
  name: ' notes ',
  kind: 'command',
  command: 'node',
  args: 'a b.mjs\n\n--flag',
  env: 'TOKEN=secret:NOTES\nEMPTY=',
  url: '',
  headers: '',
  allowPrivate: false,
} as const

it('reads one argument per line, and variables with all that follows the first sign', () => {
  expect(toServer(form)).toEqual({
    name: 'notes',
    command: 'node',
    args: ['a b.mjs', '--flag'],
    env: { TOKEN: 'secret:NOTES', EMPTY: '' },
  })
})

it('reads headers of a URL, and reports a line that is none', () => {
  const server = { ...form, kind: 'url', url: 'https://example.com/mcp', headers: 'Authorization: Bearer a:b' } as const
  expect(toServer(server)).toEqual({
    name: 'notes',
    url: 'https://example.com/mcp',
    headers: { Authorization: 'Bearer a:b' },
  })
  expect(() => toServer({ ...form, env: 'TOKEN' })).toThrow(
    'Variables must have the form NAME=value on each line: TOKEN',
  )
})

it('changes only edited fields, so that arguments that a line cannot show stay as they are', () => {
  const start = toServerForm('notes', { command: 'node', args: ['', 'two\nlines'], env: { A: '1' } })
  expect(toServerChange({ ...start, command: 'deno', env: '' }, start)).toEqual({
    name: 'notes',
    command: 'deno',
    env: {},
  })
  expect(toServerChange({ ...start, kind: 'url', url: 'https://example.com' }, start)).toEqual({
    name: 'notes',
    url: 'https://example.com',
  })
})
