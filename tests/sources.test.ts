import { writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { composeProcess } from '../src/app/compose.ts'
import { invoke } from '../src/operations/invoke.ts'
import { listSources } from '../src/operations/server/list-sources.ts'
import { tempFile, tempFolder } from './support/temp-folder.ts'

const text = (name: string) =>
  JSON.stringify({
    name,
    description: 'A demo.',
    command: 'echo',
    tools: [{ name: `${name}_say`, description: 'Says.' }],
  })

it('lists the state of each config, without its path', async () => {
  const folder = tempFolder()
  const good = tempFile('good.yaml', text('good'), folder)
  const broken = tempFile('broken.yaml', 'name: [', folder)
  const context = composeProcess({ configs: [good, broken] })
  const list = async () => (await invoke(listSources, {}, context)).items
  const failed = {
    kind: 'config',
    name: 'broken.yaml',
    state: 'failed',
    tools: 0,
    warnings: 0,
    problem: 'CONFIG_INVALID',
  }
  expect(await list()).toEqual([{ kind: 'config', name: 'good', state: 'loaded', tools: 1, warnings: 0 }, failed])
  writeFileSync(good, 'name: [')
  context.catalog.reload()
  expect(await list()).toMatchObject([{ name: 'good', state: 'stale', tools: 1, problem: 'CONFIG_INVALID' }, failed])
  writeFileSync(good, text('good'))
  context.catalog.reload()
  expect(await list()).toMatchObject([{ name: 'good', state: 'loaded' }, failed])
})
