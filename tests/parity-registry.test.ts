import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as bundles from '../src/operations/registry/bundles.ts'
import * as categories from '../src/operations/registry/categories.ts'
import { listForModel } from '../src/operations/registry/definitions.ts'
import * as keys from '../src/operations/registry/keys.ts'
import * as proposals from '../src/operations/registry/proposals.ts'
import * as tools from '../src/operations/registry/tools.ts'
import * as versions from '../src/operations/registry/versions.ts'
import { openWorlds, type Request, type World } from './support/open-registry.ts'
import { tempFile } from './support/temp-folder.ts'

type Ids = Record<string, string>
type Step = readonly [name: string, code: string | undefined, make: (ids: Ids) => Request]

const draft = {
  name: 'send_report',
  displayName: 'Send a report',
  description: 'Sends a report to a team',
  tags: ['mail'],
  inputSchema: { type: 'object', properties: { team: { type: 'string' } }, required: ['team'] },
  executorType: 'http',
  executorConfig: { method: 'POST', url: 'https://example.org/{team}' },
  icons: [{ src: 'https://example.org/report.png', sizes: ['48x48'] }],
  _meta: { 'com.example/color': 'red' },
}
const file = (value: unknown) => tempFile('input.json', JSON.stringify(value))
const bundle = { tooldex: 1, tools: [{ ...draft, name: 'from_bundle' }] }
const wrongFile = join(import.meta.dirname, 'fixtures/wrong-bundle.json')

const create = (fields: object): Request => ({
  operation: tools.createTool,
  input: { ...fields },
  words: ['tools', 'create', file(fields)],
  rest: ['POST', '/tools', fields],
})
const change = (fields: object, expectedVersion?: number): Request => ({
  operation: tools.changeTool,
  input: { idOrName: 'send_report', ...fields, ...(expectedVersion === undefined ? {} : { expectedVersion }) },
  words: [
    ...['tools', 'edit', 'send_report', file(fields)],
    ...(expectedVersion === undefined ? [] : ['--expected-version', String(expectedVersion)]),
  ],
  rest: [
    'PATCH',
    '/tools/send_report',
    fields,
    expectedVersion === undefined ? {} : { 'if-match': `"${expectedVersion}"` },
  ],
})
const get = (idOrName: string): Request => ({
  operation: tools.getTool,
  input: { idOrName },
  words: ['tools', 'get', idOrName],
  rest: ['GET', `/tools/${idOrName}`],
})
const category = (name: string, parent?: string, parentId?: string): Request => ({
  operation: categories.createCategory,
  input: { name, ...(parentId === undefined ? {} : { parentId }) },
  words: ['categories', 'create', name, ...(parent === undefined ? [] : ['--parent', parent])],
  rest: ['POST', '/categories', { name, ...(parentId === undefined ? {} : { parentId }) }],
})
const move = (name: string, parent: string, parentId: string | undefined): Request => ({
  operation: categories.changeCategory,
  input: { idOrName: name, parentId },
  words: ['categories', 'move', name, parent],
  rest: ['PATCH', `/categories/${name}`, { parentId }],
})
const activate: Request = {
  operation: tools.activateTool,
  input: { idOrName: 'send_report' },
  words: ['tools', 'activate', 'send_report'],
  rest: ['POST', '/tools/send_report/activate'],
}

const steps: readonly Step[] = [
  ['create', undefined, () => create(draft)],
  ['create again', 'NAME_TAKEN', () => create(draft)],
  ['create with three things wrong', 'INPUT_INVALID', () => create({ name: 'Bad Name', description: 7, nonsense: 1 })],
  ['get', undefined, () => get('send_report')],
  ['get what is not there', 'TOOL_NOT_FOUND', () => get('send_repotr')],
  [
    'list with filters',
    undefined,
    () => ({
      operation: tools.listRegistered,
      input: { status: ['DRAFT'], tag: ['mail'], executorType: ['http'], search: 'report', sort: 'name', limit: 5 },
      words: [
        ...['tools', 'list', '--status', 'DRAFT', '--tag', 'mail', '--executor-type', 'http'],
        ...['--search', 'report', '--sort', 'name', '--limit', '5'],
      ],
      rest: ['GET', '/tools?status=DRAFT&tag=mail&executorType=http&search=report&sort=name&limit=5'],
    }),
  ],
  ['change', undefined, () => change({ description: 'Sends a report to one team' }, 1)],
  ['change on an old version', 'STALE', () => change({ description: 'Something else' }, 1)],
  ['activate', undefined, () => activate],
  ['activate what is active', 'ILLEGAL_STEP', () => activate],
  [
    'versions',
    undefined,
    () => ({
      operation: versions.listVersions,
      input: { idOrName: 'send_report' },
      words: ['tools', 'versions', 'send_report'],
      rest: ['GET', '/tools/send_report/versions'],
    }),
  ],
  ['get a version by its number', undefined, () => get('send_report@1')],
  ['get a version that there is not', 'NOT_FOUND', () => get('send_report@9')],
  [
    'diff',
    undefined,
    () => ({
      operation: versions.diffVersions,
      input: { idOrName: 'send_report', from: 1, to: 2 },
      words: ['tools', 'diff', 'send_report', '--from', '1', '--to', '2'],
      rest: ['GET', '/tools/send_report/diff?from=1&to=2'],
    }),
  ],
  [
    'roll back',
    undefined,
    () => ({
      operation: versions.rollbackTool,
      input: { idOrName: 'send_report', version: 1 },
      words: ['tools', 'rollback', 'send_report', '1'],
      rest: ['POST', '/tools/send_report/rollback', { version: 1 }],
    }),
  ],
  ['make a category', undefined, () => category('ops')],
  ['make one below it', undefined, ({ ops }) => category('mail', 'ops', ops)],
  ['make one at the top', undefined, () => category('other')],
  ['move a category', undefined, ({ other }) => move('mail', 'other', other)],
  ['move it below itself', 'ILLEGAL_STEP', ({ mail }) => move('other', 'mail', mail)],
  ['put the tool in it', undefined, ({ mail }) => change({ categoryId: mail })],
  [
    'delete a category in use',
    'IN_USE',
    () => ({
      operation: categories.deleteCategory,
      input: { idOrName: 'mail' },
      words: ['categories', 'delete', 'mail'],
      rest: ['DELETE', '/categories/mail'],
    }),
  ],
  [
    'rename a tag',
    undefined,
    () => ({
      operation: categories.renameTag,
      input: { from: 'mail', to: 'email' },
      words: ['tags', 'rename', 'mail', 'email'],
      rest: ['POST', '/tags/rename', { from: 'mail', to: 'email' }],
    }),
  ],
  [
    'propose',
    undefined,
    () => ({
      operation: proposals.proposeChange,
      input: { idOrName: 'send_report', change: { notes: 'Slow on Mondays' }, reason: 'asked often' },
      words: ['tools', 'propose', 'send_report', file({ notes: 'Slow on Mondays' }), '--reason', 'asked often'],
      rest: ['POST', '/tools/send_report/proposals', { change: { notes: 'Slow on Mondays' }, reason: 'asked often' }],
    }),
  ],
  ...(['accept', 'accept again'] as const).map(
    (name): Step => [
      name,
      name === 'accept' ? undefined : 'ILLEGAL_STEP',
      ({ proposal = '' }) => ({
        operation: proposals.acceptProposal,
        input: { id: proposal },
        words: ['tools', 'accept', proposal],
        rest: ['POST', `/proposals/${proposal}/accept`, {}],
      }),
    ],
  ),
  [
    'make a key',
    undefined,
    () => ({
      operation: keys.createKey,
      input: { name: 'reader', scopes: ['read'] },
      words: ['keys', 'create', 'reader', '--scope', 'read'],
      rest: ['POST', '/keys', { name: 'reader', scopes: ['read'] }],
    }),
  ],
  [
    'revoke it',
    undefined,
    () => ({
      operation: keys.revokeKey,
      input: { idOrName: 'reader' },
      words: ['keys', 'revoke', 'reader'],
      rest: ['DELETE', '/keys/reader'],
    }),
  ],
  [
    'list keys',
    undefined,
    () => ({ operation: keys.listKeys, input: {}, words: ['keys', 'list'], rest: ['GET', '/keys'] }),
  ],
  [
    'import, as a dry run',
    undefined,
    () => {
      const path = file(bundle)
      const input = { text: JSON.stringify(bundle), file: path, dryRun: true }
      return {
        operation: bundles.importBundle,
        input,
        words: ['tools', 'import', path, '--dry-run'],
        rest: ['POST', '/bundle', input],
      }
    },
  ],
  [
    'import what is wrong in its shape and inside',
    'BUNDLE_INVALID',
    () => {
      const input = { text: readFileSync(wrongFile, 'utf8'), file: wrongFile }
      return {
        operation: bundles.importBundle,
        input,
        words: ['tools', 'import', wrongFile],
        rest: ['POST', '/bundle', input],
      }
    },
  ],
  [
    'propose what is wrong in its shape and inside',
    'INPUT_INVALID',
    () => {
      const change = { displayName: 7, outputSchema: { type: 'objekt' } }
      return {
        operation: proposals.proposeChange,
        input: { idOrName: 'send_report', change },
        words: ['tools', 'propose', 'send_report', file(change)],
        rest: ['POST', '/tools/send_report/proposals', { change }],
      }
    },
  ],
  [
    'definitions for a model',
    undefined,
    () => ({
      operation: listForModel,
      input: { format: 'openai' },
      words: ['tools', 'definitions', '--format', 'openai'],
      rest: ['GET', '/llm/tools?format=openai'],
    }),
  ],
]

/** What differs by nature: ids, times, secrets, and who asked. */
function normal(value: unknown, key = ''): unknown {
  if (Array.isArray(value)) return value.map((each) => normal(each))
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(
      Object.entries(value).flatMap(([name, held]) => {
        // Commands say where in the file something is wrong.
        if (['file', 'line', 'column'].includes(name) && 'severity' in value) return []
        return [[name, normal(held, name)]]
      }),
    )
  if (['secret', 'prefix', 'createdBy', 'decidedBy'].includes(key)) return key
  if (/At$/.test(key)) return value === null && key !== 'lastUsedAt' ? null : 'time'
  if (typeof value !== 'string') return value
  return value.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'id')
}

describe('library, commands and HTTP give the same results and the same errors', () => {
  let worlds: readonly World[] = []
  const ids = new Map<World, Ids>()
  beforeAll(async () => {
    worlds = await openWorlds()
    for (const world of worlds) ids.set(world, {})
  })
  afterAll(() => Promise.all(worlds.map((world) => world.close())))

  it.each(steps)('%s', async (_name, code, make) => {
    let expected: unknown
    for (const world of worlds) {
      const known = ids.get(world) ?? {}
      const answer = (await world.ask(make(known))) as { id?: string; name?: string; error?: { code: string } }
      if (answer.id !== undefined) known[answer.name ?? 'proposal'] = answer.id
      expect(answer.error?.code, `${world.name}: ${JSON.stringify(answer.error)}`).toBe(code)
      expected ??= normal(JSON.parse(JSON.stringify(answer)))
      expect(normal(answer), world.name).toEqual(expected)
    }
  })
})
