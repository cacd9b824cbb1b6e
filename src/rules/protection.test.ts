import { describe, expect, it } from 'vitest'
import { ToolDraft } from '../contract/registry.ts'
import { findTightening, findUnboundArgument } from './protection.ts'

const tool = (executorType: string, executorConfig: object, more: object = {}) =>
  ToolDraft.parse({
    name: 'tool',
    displayName: 'Tool',
    description: 'A tool.',
    inputSchema: { type: 'object' },
    executorType,
    executorConfig,
    ...more,
  })

describe('findTightening', () => {
  const sandbox = 'runs in a stricter sandbox'
  const folder = 'no longer uses a folder that it used'
  const secret = 'no longer uses a secret or variable that it used'
  const cases: readonly (readonly [string, object, object, string | undefined])[] = [
    ['cli', { isolation: 'limited' }, {}, sandbox],
    ['cli', { isolation: 'confined' }, {}, sandbox],
    ['cli', {}, { isolation: 'isolated' }, sandbox],
    ['cli', {}, { isolation: 'limited' }, undefined],
    ['cli', { isolation: 'isolated' }, {}, undefined],
    ['cli', {}, {}, undefined],
    ['shell', { cwd: '/srv/data' }, {}, folder],
    ['shell', { paths: { file: '/srv' } }, { paths: { file: '/srv/data' } }, folder],
    ['shell', { cwd: '/work' }, {}, undefined],
    ['shell', {}, { cwd: '/srv/data' }, undefined],
    ['cli', { args: [{ name: 'file', type: 'path', root: '/srv' }] }, { args: [] }, folder],
    ['shell', { env: { TOKEN: 'secret:mail' } }, { env: {} }, secret],
    ['shell', { env: { TOKEN: 'secret:mail' } }, { env: { KEY: 'secret:mail' } }, undefined],
    ['shell', { env: { LEVEL: 'debug' } }, { env: { LEVEL: 'info' } }, undefined],
    ['cli', { inheritEnv: ['HOME', 'TOKEN'] }, { inheritEnv: ['HOME'] }, 'inherits fewer variables'],
    ['cli', { inheritEnv: ['HOME'] }, { inheritEnv: ['HOME', 'TOKEN'] }, undefined],
    ['cli', { inheritEnv: ['HOME'] }, { inheritEnv: true }, undefined],
    ['http', { auth: { type: 'bearer', secret: 'mail' } }, {}, secret],
  ]
  it.each(cases)('of %s from %j to %j', (type, before, after, expected) => {
    expect(findTightening(tool(type, before), tool(type, after))).toBe(expected)
  })
})

describe('findUnboundArgument', () => {
  const both = { inputSchema: { type: 'object', properties: { word: {}, w: {} } } }
  const rules = [{ args: { word: { pattern: 'good' } } }]
  const cases: readonly (readonly [string, object, object, string | undefined])[] = [
    ['cli', { args: [{ name: 'w' }] }, both, 'word'],
    ['cli', { args: [{ name: 'word' }] }, both, undefined],
    ['cli', { globalArgs: [{ name: 'word' }] }, both, undefined],
    ['shell', { command: ['echo', '{{w}}'] }, both, 'word'],
    ['shell', { command: ['echo', ['-n', '{{ word }}']] }, both, undefined],
    ['shell', { command: ['cat'], stdin: 'word' }, both, undefined],
    ['http', { url: 'https://example.org/{w}' }, both, 'word'],
    ['http', { url: 'https://example.org/', body: { text: '{word}' } }, both, undefined],
    ['python', {}, both, undefined],
    ['python', {}, {}, undefined],
    ['python', {}, { inputSchema: { type: 'object', properties: { w: {} } } }, 'word'],
  ]
  it.each(cases)('of %s %j %j', (type, config, more, expected) => {
    const latest = tool(type, config, more)
    expect(findUnboundArgument(latest, latest, rules)).toBe(expected)
  })
})
