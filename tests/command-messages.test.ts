import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createLocalClient } from '../src/operations/registry-client/registry-client.ts'
import { openEditor } from '../src/surfaces/cli/open-editor.ts'
import { openRegistry } from './support/open-registry.ts'
import { runCli } from './support/run-cli.ts'
import { runInProcess } from './support/run-in-process.ts'
import { tempFile, tempFolder } from './support/temp-folder.ts'

let registry: Awaited<ReturnType<typeof openRegistry>>
const run = (...words: string[]) =>
  runInProcess(words, { openRegistry: async () => createLocalClient(registry.context) })
const register = (name: string) =>
  registry.request('POST', '/tools', {
    body: {
      name,
      displayName: name,
      description: 'Prints a word.',
      inputSchema: { type: 'object', properties: {} },
      executorType: 'shell',
      executorConfig: { command: ['echo', 'word'] },
    },
  })

beforeAll(async () => {
  registry = await openRegistry()
})
afterAll(() => registry.close())

describe('an empty list', () => {
  it.each([
    ['tools list', 'tooldex tools create FILE'],
    ['tags list', 'tooldex tools edit TOOL --set tags=[a,b]'],
    ['secrets list', 'tooldex secrets set NAME < FILE'],
    ['categories tree', 'tooldex categories create NAME'],
    ['executions list', 'tooldex call TOOL'],
  ])('of %s says what to do next', async (words, next) => {
    expect(await run(...words.split(' '))).toMatchObject({ code: 0, out: expect.stringContaining(next) })
  })

  it('with filters says that nothing matches', async () => {
    expect((await run('tools', 'list', '--status', 'ACTIVE')).out).toBe('No registered tool matches the filters.\n')
    expect((await run('executions', 'list', '--tool', 'x')).out).toBe('No recorded run matches.\n')
  })
})

describe('a list by page', () => {
  it('names the next page, not a cursor', async () => {
    for (const name of ['page_a', 'page_b', 'page_c']) await register(name)
    const { out } = await run('tools', 'list', '--search', 'page_', '--limit', '1', '--page', '2')
    expect(out).toContain('3 in total\nmore: --page 3\n')
    expect(out).not.toContain('--cursor')
    expect((await run('tools', 'list', '--limit', '1')).out).toContain('more: --cursor ')
  })
})

describe('versions', () => {
  it('names the version that was asked for where it does not exist', async () => {
    await register('compared')
    expect((await run('tools', 'diff', 'compared', '--to', '99')).err).toContain('has no version 99;')
    expect((await run('tools', 'diff', 'compared', '--from', '7')).err).toContain('has no version 7;')
  })

  it('warns where a rollback or an edit changes nothing, so that its changelog is not stored', async () => {
    await register('same')
    const back = await run('tools', 'rollback', 'same', '1', '--changelog', 'lost')
    expect(back).toMatchObject({ code: 0, out: 'same is DRAFT, version 1.\n' })
    expect(back.err).toContain('same already has the content of version 1; no version was created')
    const edit = await run('tools', 'edit', 'same', '--set', 'displayName=same', '--changelog', 'lost')
    expect(edit.err).toContain('same already has these values; no version was created')
    const changed = await run('tools', 'edit', 'same', '--set', 'displayName=other', '--changelog', 'kept')
    expect([changed.out, changed.err]).toEqual(['same is DRAFT, version 2.\n', ''])
    expect((await run('tools', 'rollback', 'same', '1')).err).toBe('')
  })
})

describe('an error of a command', () => {
  it('is JSON with --json, even where the command line itself is wrong', async () => {
    for (const [words, message] of [
      [['tools', 'get', '--json'], "Missing required argument 'tool'."],
      [['tools', 'list', '--json', '--unknown'], "Unknown option '--unknown'."],
      [['tools', 'list', '--limit', '0', '--json'], /'0' is invalid\. Enter an integer of at least 1\.$/],
    ] as const) {
      const { code, out, err } = await run(...words)
      expect([code, err]).toEqual([2, ''])
      const { error } = JSON.parse(out)
      expect(error).toMatchObject({ code: 'USAGE', hint: 'tooldex COMMAND --help shows its arguments and options.' })
      if (typeof message === 'string') expect(error.message).toBe(message)
      else expect(error.message).toMatch(message)
    }
    expect((await run('tools', 'get')).err).toMatch(/^error: missing required argument 'tool'\n/)
  })

  it('names the arguments of the command, not the fields of the API', async () => {
    const { err } = await run('tools', 'get', '')
    expect(err).toContain('<tool> must not be empty')
    expect(err).not.toContain('idOrName')
  })

  it('states the range of a number that is too large', async () => {
    const huge = await run('search', 'x', '--budget', '10000000')
    expect(huge.err).toContain('Enter an integer from 1 to 999999.')
    expect((await run('tools', 'versions', 'x', '--limit', '10000000')).err).toContain('at most 100')
    expect((await run('executions', 'result', 'x', '--offset', '10000000')).err).toContain('Unknown handle: x.')
  })
})

it('manages the policies in the database', async () => {
  expect((await run('policies', 'list')).out).toContain('tooldex policies set NAME FILE')
  const file = tempFile('policy.yaml', 'default: disabled\ntools:\n  git_log: { args: { max_count: { max: 10 } } }\n')
  expect(await run('policies', 'set', 'readers', file)).toMatchObject({ code: 0, out: 'readers is stored.\n', err: '' })
  expect((await run('policies', 'list')).out).toMatch(/^readers +disabled +1 +all$/m)
  expect((await run('policies', 'get', 'readers')).out).toContain('max: 10')
  const wrong = await run('policies', 'set', 'readers', tempFile('wrong.yaml', 'default: never\n'))
  expect([wrong.code, wrong.err]).toEqual([3, expect.stringContaining('wrong.yaml')])
  expect((await run('policies', 'delete', 'readers')).out).toBe('readers is deleted.\n')
  expect((await run('policies', 'get', 'readers')).code).toBe(4)
})

it('does not start an editor without a terminal', async () => {
  const refused = openEditor('/nowhere', {}, false)
  await expect(refused).rejects.toMatchObject({ code: 'USAGE', hint: expect.stringContaining('--set field=value') })
  await openEditor('/nowhere', { EDITOR: 'true' }, false)
})

it('rejects an empty secret', async () => {
  const { code, stderr } = await runCli(['secrets', 'set', 'TOKEN'], { env: { TOOLDEX_HOME: tempFolder() } })
  expect([code, stderr]).toEqual([2, expect.stringContaining('tooldex secrets set NAME < FILE')])
})
