import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { composeProcess } from '../../src/app/compose.ts'
import { RegistryFeed } from '../../src/operations/catalog/registry-feed.ts'
import { createToolCheck } from '../../src/operations/checks/check-tool.ts'
import { invoke } from '../../src/operations/invoke.ts'
import { activateTool, createTool } from '../../src/operations/registry/tools.ts'
import { openRuns } from '../../src/runs/open-runs.ts'
import { createStores } from '../../src/storage/index.ts'
import { openMigrated } from './migrated-database.ts'
import { scriptTool } from './registered-tools.ts'

/** What a server works with, in this process: a database in memory, recorded runs, and a folder for scripts. */
export async function openRecorded(options: { readonly concurrency?: number; readonly policy?: string } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'tooldex-recorded-'))
  const database = await openMigrated()
  const stores = createStores(database)
  const composed = composeProcess({ configs: [], ...options })
  const { runner, logger, catalog } = composed
  const runs = await openRuns({
    runner,
    logger,
    store: stores.executions,
    kind: 'server',
    takesWork: true,
    runsTools: true,
  })
  const context = { ...composed, registry: { stores, check: createToolCheck({}) }, runs }
  const feed = new RegistryFeed({ stores, catalog, workspace: 'default', logger })
  return {
    context,
    stores,
    database,
    folder,
    sync: () => feed.sync(),
    async register(name: string, options: Parameters<typeof scriptTool>[1]) {
      await invoke(createTool, scriptTool(name, options, folder), context)
      if (options.status !== 'DRAFT')
        expect(await invoke(activateTool, { idOrName: name }, context)).toMatchObject({ status: 'ACTIVE' })
      await feed.sync()
    },
    async close() {
      await runs.close(0)
      await runner.close(2000)
      await database.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
