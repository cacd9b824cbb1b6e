import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createLocalClient } from '../src/operations/registry-client/registry-client.ts'
import { openRegistry } from './support/open-registry.ts'
import { runInProcess } from './support/run-in-process.ts'
import { tempFile } from './support/temp-folder.ts'

const tool = {
  name: 'send_word',
  displayName: 'Send word',
  description: 'Prints a word.',
  inputSchema: { type: 'object', properties: { word: { type: 'string' }, unused: { type: 'string' } } },
  executorType: 'shell',
  executorConfig: { command: ['echo', '{{word}}'] },
}
const message = "the command never uses the parameter 'unused'"

let registry: Awaited<ReturnType<typeof openRegistry>>
let [opened, checked] = [0, 0]
const run = async (...words: string[]) => {
  ;[opened, checked] = [0, 0]
  const { context } = registry
  const check: typeof context.registry.check = (...parts) => {
    checked++
    return context.registry.check(...parts)
  }
  const counting = { ...context, registry: { ...context.registry, check } }
  const openRegistry = async () => {
    opened++
    return createLocalClient(counting)
  }
  return runInProcess(words, { openRegistry })
}

beforeAll(async () => {
  registry = await openRegistry()
})
afterAll(() => registry.close())

describe('warnings of a write', () => {
  it('are printed with their line by a command that opens the registry and checks the tool once', async () => {
    const { code, err } = await run('tools', 'create', tempFile('tool.json', JSON.stringify(tool, null, 2)))
    expect([code, opened, checked]).toEqual([0, 1, 1])
    expect(err).toMatch(new RegExp(`^warning: .*tool.json:\\d+:\\d+: ${message}`, 'm'))
    const set = await run('tools', 'edit', 'send_word', '--set', 'description=Prints one word.')
    expect([set.code, opened, checked]).toEqual([0, 1, 1])
    expect(set.err).toContain(message)
  })

  it.each([
    ['a change', 'PATCH', '/tools/send_word', { notes: 'n' }, 200],
    ['a proposal', 'POST', '/tools/send_word/proposals', { change: { notes: 'm' } }, 201],
    ['an activation', 'POST', '/tools/send_word/activate', undefined, 200],
    ['a rollback', 'POST', '/tools/send_word/rollback', { version: 1 }, 200],
  ] as const)('are returned by %s', async (_name, method, path, body, status) => {
    const response = await registry.app.request(`http://localhost/api/v1${path}`, {
      method,
      headers: { authorization: 'Bearer tdx_a_key_for_tests_only_0123456789', 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    expect(response.status).toBe(status)
    expect(await response.json()).toMatchObject({
      warnings: [{ severity: 'warning', pointer: expect.stringContaining('/executorConfig/command'), message }],
    })
  })

  it('are absent where there are none', async () => {
    const { properties: _properties, ...inputSchema } = tool.inputSchema
    const clean = { ...tool, name: 'clean', inputSchema, executorConfig: { command: ['date'] } }
    const { out, err } = await run('tools', 'create', tempFile('clean.json', JSON.stringify(clean)), '--json')
    expect(err).toBe('')
    expect(JSON.parse(out)).not.toHaveProperty('warnings')
  })
})
