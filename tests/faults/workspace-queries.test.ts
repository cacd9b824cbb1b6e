import { NoopLogger } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { composeProcess } from '../../src/app/compose.ts'
import { createToolCheck } from '../../src/operations/checks/check-tool.ts'
import { invoke } from '../../src/operations/invoke.ts'
import type { Operation, PartialContext } from '../../src/operations/operation.ts'
import { activateTool, changeTool, createTool, deleteTool, getTool } from '../../src/operations/registry/tools.ts'
import { listVersions } from '../../src/operations/registry/versions.ts'
import { createStores, type Database } from '../../src/storage/index.ts'
import { openMigrated } from '../support/migrated-database.ts'
import { draft } from '../support/rest.ts'
import { type SharedPostgres, sharedPostgres } from '../support/start-postgres.ts'

const nowhere = '00000000-0000-4000-8000-000000000000'

describe.each(['embedded', 'PostgreSQL'] as const)('database queries (%s)', (engine) => {
  let cluster: SharedPostgres | undefined
  let database: Database
  beforeAll(async () => {
    cluster = engine === 'PostgreSQL' ? await sharedPostgres() : undefined
    database = await openMigrated({ url: await cluster?.createDatabase() })
  })
  afterAll(async () => {
    await database?.close()
    await cluster?.stop()
  })

  /** The texts of all queries that an operation makes before it refuses, inside transactions too. */
  async function queriesOf(operation: unknown, input: object, context: PartialContext): Promise<readonly string[]> {
    const asked = vi.spyOn(NoopLogger.prototype, 'logQuery')
    const refused = await invoke(operation as Operation<never, never>, input, context).catch((error) => error.code)
    const texts = (asked.mock.calls as unknown[][]).map(([text]) => String(text))
    asked.mockRestore()
    expect(refused).toBe('TOOL_NOT_FOUND')
    return texts
  }

  it('113: are the same for a tool of another workspace and for an unknown one', async () => {
    const registry = { stores: createStores(database), check: createToolCheck({}) }
    const mine = { ...composeProcess({ configs: [] }), registry }
    const { id } = await invoke(createTool, draft('hidden') as never, mine)
    const theirs = { ...mine, caller: { workspace: 'other', actor: 'test' } }
    const asked: readonly (readonly [unknown, object?])[] = [
      [getTool],
      [changeTool, { notes: 'x' }],
      [activateTool],
      [deleteTool],
      [listVersions],
    ]
    for (const [operation, input] of asked) {
      const foreign = await queriesOf(operation, { idOrName: id, ...input }, theirs)
      expect(foreign.length).toBeGreaterThan(0)
      expect(foreign).toEqual(await queriesOf(operation, { idOrName: nowhere, ...input }, theirs))
      expect(foreign).toHaveLength((await queriesOf(operation, { idOrName: 'hidden', ...input }, theirs)).length)
    }
  })
})
