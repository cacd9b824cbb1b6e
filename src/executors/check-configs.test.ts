import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ExecutorType } from '../contract/executor-kinds.ts'
import { ToolContent } from '../contract/registry.ts'
import { executors } from './index.ts'

const schema = { type: 'object', properties: { city: { type: 'string' }, days: { type: 'integer' } } }
const check = (kind: ExecutorType, config: unknown, inputSchema: Record<string, unknown> = schema) =>
  executors[kind]
    .checkConfig(config, inputSchema, '/executorConfig')
    .map(({ severity, pointer = '', message }) => `${severity} ${pointer.replace('/executorConfig', '')}: ${message}`)

describe('configs of executors', () => {
  it('knows every kind', () => {
    expect(Object.keys(executors).sort()).toEqual([...ExecutorType.options].sort())
  })

  it('takes configs that make sense', () => {
    expect(check('python', {})).toEqual([])
    expect(check('python', { environment: 'data', network: false, timeoutMs: 1000 })).toEqual([])
    expect(check('mcp', { server: 'github', tool: 'search' })).toEqual([])
    const shell = { command: ['curl', '--', '{{city}}', '{{ days }}'], cwd: '/tmp', env: { LANG: 'C' } }
    expect(check('shell', shell)).toEqual([])
    const http = {
      method: 'POST',
      url: 'https://api.example.com/{city}/x?days={days}',
      headers: { Accept: 'text/plain' },
      query: { units: ['a', 1] },
      body: { text: 'in {city}', plain: '{ not one }' },
      response: { type: 'json', pointer: '/data' },
      auth: { type: 'bearer', secret: 'weather_key' },
    }
    expect(check('http', http)).toEqual([])
    const args = [
      { name: 'city', positional: true },
      { name: 'days', type: 'integer', flag: '--days' },
    ]
    expect(check('cli', { baseCommand: 'weather', command: 'show', args, timeout: 3 })).toEqual([])
  })

  it('reports wrong shapes and contradictions together, and derives nothing from a wrong shape', () => {
    expect(check('http', { method: 'GOT', url: 'ftp://a', body: { a: '{ciy}' }, query: { q: '{dys}' } })).toEqual([
      expect.stringContaining('error /method: method must be one of'),
      'error /url: url must start with https:// or http://',
      expect.stringContaining('error /query/q: '),
    ])
    expect(check('http', { method: 'GET' })).toEqual(['error /url: url is required'])
    expect(check('shell', { command: 7, env: {} })).toEqual([expect.stringContaining('error /command: ')])
  })

  it.each(ToolContent.shape.executorType.options)('refuses unknown keys and guesses what was meant: %s', (kind) => {
    expect(check(kind, { timeoutMS: 1 })).toContainEqual(
      "error /timeoutMS: unknown key 'timeoutMS'. Did you mean 'timeoutMs'?",
    )
    expect(check(kind, null)).toHaveLength(1)
  })

  it('reports every wrong field at once', () => {
    expect(check('python', { network: 'yes', timeoutMs: 0 })).toEqual([
      'error /network: network must be a boolean, not a string',
      'error /timeoutMs: timeoutMs must be at least 1, not 0',
    ])
    const [unknown] = check('cli', { baseCommand: 'x', args: [{ name: 'city', flagg: '-c' }] })
    expect(unknown).toBe("error /args/0/flagg: unknown key 'flagg'. Did you mean 'flag'?")
  })

  it('finds parameters and defaults behind references', () => {
    const $defs = { city: { $anchor: 'city', default: '--help' }, day: { properties: { day: {} }, required: ['day'] } }
    const inputSchema = { properties: { city: { $ref: '#city' } }, allOf: [{ $ref: '#/%24defs/day' }], $defs }
    const command = ['weather', '{{city}}', '--day', '{{day}}', '{{other}}']
    expect(check('shell', { command }, inputSchema)).toEqual([
      "error /command/4: the input schema has no parameter 'other'.",
      expect.stringContaining("error /command/1: the default of 'city' in the input schema cannot be used"),
    ])
    expect(check('cli', { baseCommand: 'weather', args: [{ name: 'day' }] }, inputSchema)).toEqual([
      expect.stringContaining("error /args: no argument takes the parameter 'city', which has a default"),
    ])
  })

  it('lets parameters be whole words of a command only', () => {
    expect(check('shell', { command: ['echo', '--city={{city}}', '{{dasy}}', '{{days}}', '{{city}}'] })).toEqual([
      "error /command/1: a parameter must be a whole item of the command, not a part of '--city={{city}}'",
      "error /command/2: the input schema has no parameter 'dasy'. Did you mean 'days'?",
    ])
    const odd = { command: ['{{city}}'], cwd: '/home/{{city}}', env: { A: '{{days}}' } }
    expect(check('shell', odd)).toEqual([
      'error /command/0: the program must not be a parameter',
      'error /env/A: env.A must not contain parameters',
      'error /cwd: cwd must not contain parameters',
      "warning /command: the command never uses the parameter 'days'",
    ])
    expect(check('shell', { command: 'rm -rf' })).toEqual(['error /command: command must be an array, not a string'])
    expect(check('shell', { command: ['a\0'] })).toHaveLength(1)
    expect(check('shell', { command: [] })).toHaveLength(1)
  })

  it.each([
    ['ftp://example.com', 'must start with'],
    ['file:///etc/passwd', 'must start with'],
    ['/relative', 'must start with'],
    ['{city}', 'must start with'],
    ['javascript:alert(1)', 'must start with'],
    ['https://{city}/x', 'host'],
    ['https://{city}.example.com', 'host'],
    ['https:\\\\{city}\\x', 'host'],
    ['https:{city}', 'host'],
    ['https://example.com:{days}/', 'host'],
    ['https://user:pw@example.com/', 'user name or password'],
    ['https://user@example.com/', 'user name or password'],
    ['https://@example.com/', 'user name or password'],
    ['https://', 'not a valid URL'],
    ['https://example.com/#x', 'fragment'],
    ['https://example.com/{ctiy}', "Did you mean 'city'?"],
    ['https://example.com/{city', 'brace'],
    ['http://example.com/', 'not encrypted'],
  ])('refuses the url %s', (url, words) => {
    const found = check('http', { method: 'GET', url })
    expect(found).toHaveLength(1)
    expect(found[0]).toContain(words)
  })

  it('looks for parameters in every part of a request', () => {
    const url = 'https://example.com/'
    const parts = { headers: { 'X-City': '{a}' }, query: { q: ['{b}'] }, body: { deep: [{ text: 'x{c}' }] } }
    expect(check('http', { method: 'POST', url, ...parts }).map((text) => text.split(':')[0])).toEqual([
      'error /headers/X-City',
      'error /query/q/0',
      'error /body/deep/0/text',
    ])
  })

  it('refuses requests that would break or leak', () => {
    const base = { method: 'GET', url: 'https://example.com/' }
    expect(check('http', { ...base, body: {} })).toEqual(['error /body: a GET request has no body'])
    expect(check('http', { ...base, headers: { Host: 'a', Authorization: 'Bearer x', 'a b': 'c' } })).toHaveLength(1)
    expect(check('http', { ...base, headers: { 'Transfer-Encoding': 'a', Authorization: 'x' } })).toEqual([
      "error /headers/Transfer-Encoding: the header 'Transfer-Encoding' is set by Tooldex",
      "warning /headers/Authorization: the header 'Authorization' would store a secret in the tool",
    ])
    expect(check('http', { ...base, headers: { A: 'x\r\nB: y' } })).toHaveLength(1)
    expect(check('http', { ...base, auth: { type: 'bearer', secret: 'Bearer abc def' } })).toHaveLength(1)
    expect(check('http', { ...base, auth: { type: 'digest' } })).toHaveLength(1)
  })

  it('holds the arguments of a program against the input schema', () => {
    const args = [{ name: 'ciyt' }, { name: 'days' }, { name: 'days', positional: true, flag: '-d' }]
    expect(check('cli', { baseCommand: '"open', args })).toEqual([
      expect.stringContaining('error /baseCommand: baseCommand: '),
      "error /args/2/name: two arguments are called 'days'",
      "error /args/2/flag: argument 'days' is both positional and flag",
      "error /args/0/name: the input schema has no parameter 'ciyt'. Did you mean 'city'?",
      "warning /args: no argument takes the parameter 'city'",
    ])
  })

  it('refuses a program whose every call would fail: a parameter with a default, or a required one, that no argument takes', () => {
    const properties = { city: { type: 'string', default: 'Oslo' }, days: { type: 'integer' }, unit: {} }
    const args = [{ name: 'unit' }]
    expect(check('cli', { baseCommand: 'weather', args }, { properties, required: ['days'] })).toEqual([
      "error /args: no argument takes the parameter 'city', which has a default in the input schema, so every call would fail",
      "error /args: no argument takes the parameter 'days', which is required in the input schema, so every call would fail",
    ])
  })

  it('refuses defaults that the executor refuses in every call', () => {
    const schemaOf = (value: unknown) => ({ properties: { city: { default: value } } })
    const cli = (arg: object) => ({ baseCommand: 'weather', args: [{ name: 'city', ...arg }] })
    expect(check('cli', cli({ type: 'integer' }), schemaOf('Oslo'))).toEqual([
      "error /args/0: the default of 'city' in the input schema cannot be used: Argument 'city': cannot convert 'Oslo' to integer",
    ])
    expect(check('cli', cli({ enum: ['a'], default: 'b' }), { properties: { city: {} } })).toEqual([
      expect.stringContaining('error /args/0/default: '),
    ])
    expect(check('cli', cli({ required: true }), schemaOf('Oslo'))).toEqual([])
    const shell = (...command: (string | string[])[]) => check('shell', { command }, schemaOf('-x'))
    expect(shell('ls', '-l', '{{city}}')).toEqual([expect.stringContaining('error /command/2: the default of ')])
    expect(shell('ls', ['-l', '{{city}}'])).toEqual([expect.stringContaining('error /command/1: the default of ')])
    expect(shell('ls', '--', '{{city}}')).toEqual([])
    expect(check('shell', { command: ['ls', '{{city}}'], dashes: ['city'] }, schemaOf('-x'))).toEqual([])
    const http = (more: object, value: unknown) =>
      check('http', { method: 'GET', url: 'https://example.com/{city}', ...more }, schemaOf(value))
    expect(http({}, '..')).toEqual([expect.stringContaining('error /url: the default of ')])
    expect(http({}, '')).toEqual([expect.stringContaining('error /url: the default of ')])
    expect(http({ headers: { 'X-City': '{city}' } }, 'a\nb')).toEqual([
      expect.stringContaining('error /headers/X-City: the default of '),
    ])
    expect(http({ headers: { 'X-City': '{city}' } }, 'Oslo')).toEqual([])
  })

  it('finds parameters behind references and choices, and requires nothing of an open schema', () => {
    const command = ['echo', '{{x}}', '{{y}}']
    const split = { $defs: { a: { properties: { x: {} } } }, $ref: '#/$defs/a', anyOf: [{ properties: { y: {} } }] }
    expect(check('shell', { command }, split)).toEqual([])
    expect(check('shell', { command }, { additionalProperties: true })).toEqual([])
    expect(check('shell', { command }, { allOf: [{ $ref: '#' }, { $ref: '#/allOf/0' }] })).toHaveLength(2)
    expect(check('shell', { command: ['echo', '{{constructor}}'] }, {})).toHaveLength(1)
  })

  it('never throws', () => {
    const word = fc.constantFrom('{{city}}', '{{', '{x}', 'https://example.com', 'http://[', '__proto__', 'GET', '')
    const part = fc.oneof(fc.anything(), word, fc.array(word), fc.dictionary(word, word))
    const key = fc.constantFrom(
      'command',
      'cwd',
      'env',
      'method',
      'url',
      'headers',
      'query',
      'body',
      'auth',
      'args',
      'server',
    )
    const config = fc.oneof(fc.anything(), fc.dictionary(key, part))
    fc.assert(
      fc.property(
        fc.constantFrom(...ExecutorType.options),
        config,
        fc.dictionary(fc.string(), fc.anything()),
        (kind, each, input) => {
          expect(Array.isArray(check(kind, each, input))).toBe(true)
        },
      ),
      { numRuns: 1000 },
    )
  })
})

it('a key that every object has by itself is an unknown key like any other', () => {
  const found = executors.python.checkConfig({ toString: { a: 1 }, constructor: 1 }, {}, '/executorConfig')
  expect(found.map(({ pointer }) => pointer)).toEqual(['/executorConfig/toString', '/executorConfig/constructor'])
})
