import { expect, it } from 'vitest'
import { openRegistry, TooldexError } from '../src/index.ts'
import { tempFolder } from './support/temp-folder.ts'

it('registers, versions, runs and retires a tool from a program', async () => {
  const registry = await openRegistry({ home: tempFolder() })
  try {
    const draft = {
      name: 'say',
      displayName: 'Say',
      description: 'Says a word.',
      executorType: 'cli' as const,
      inputSchema: { type: 'object', properties: { word: { type: 'string' } } },
      executorConfig: { baseCommand: 'echo', args: [{ name: 'word', positional: 1 }] },
    }
    expect(await registry.tools.create(draft)).toMatchObject({ status: 'DRAFT', version: 1 })
    await registry.tools.activate({ idOrName: 'say' })
    await registry.tools.change({ idOrName: 'say', description: 'Says one word.' })
    expect((await registry.versions.diff({ idOrName: 'say' })).class).toBe('wording')
    expect(await registry.versions.rollback({ idOrName: 'say', version: 1 })).toMatchObject({
      version: 3,
      description: 'Says a word.',
    })
    const ran = await registry.tools.execute({ idOrName: 'say', input: { word: 'hello' }, wait: true })
    expect(ran).toMatchObject({ status: 'SUCCESS', outputData: 'hello\n', version: 3 })
    expect((await registry.executions.list({ tool: 'say' })).items).toHaveLength(1)
    const taken = registry.tools.create(draft)
    await expect(taken).rejects.toBeInstanceOf(TooldexError)
    await expect(taken).rejects.toMatchObject({ code: 'NAME_TAKEN' })
    await registry.tools.deprecate({ idOrName: 'say' })
    expect((await registry.tools.get({ idOrName: 'say' })).status).toBe('DEPRECATED')
  } finally {
    await registry.close()
  }
})

it('accepts JSON values only, and rejects calls after close', async () => {
  const registry = await openRegistry({ home: tempFolder() })
  expect(await registry.tools.list()).toEqual({ items: [] })
  for (const name of ['half \ud800', () => 'made', new Date(), Number.NaN, 1n])
    await expect(registry.categories.create({ name } as never)).rejects.toMatchObject({
      code: 'INPUT_INVALID',
      problems: [{ pointer: '/name' }],
    })
  expect((await registry.categories.list()).items).toEqual([])
  await registry.close()
  await registry.close()
  await expect(registry.tools.list()).rejects.toMatchObject({ code: 'UNAVAILABLE', message: 'The registry is closed.' })
})
