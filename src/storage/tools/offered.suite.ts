import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { OfferedTool } from '../../contract/registry.ts'
import type { Caller, Stores } from '../../contract/stores.ts'
import { rowsOfResult } from '../database.ts'
import { newTool } from '../stores.suite.ts'

const caller: Caller = { workspace: 'default', actor: 'tester' }

/** What every engine must tell of changes to whoever looked before. */
export function describeOffered(
  name: string,
  open: () => Promise<{ stores: Stores; execute(statement: string): Promise<unknown>; close(): Promise<void> }>,
  { several }: { readonly several: boolean },
): void {
  describe(`offered tools: ${name}`, () => {
    let stores: Stores
    let execute: (statement: string) => Promise<unknown>
    let close: (() => Promise<void>) | undefined
    beforeAll(async () => {
      const opened = await open()
      stores = opened.stores
      execute = opened.execute
      close = opened.close
    })
    afterAll(() => close?.())

    const activate = async (category?: string) => {
      const { name: made } = await stores.tools.create(caller, { ...newTool(), categoryId: category ?? null })
      return stores.tools.transition(caller, made, 'activate')
    }
    const namesOf = (tools: readonly OfferedTool[] | undefined) => tools?.map(({ tool }) => tool.name).sort()

    it('keeps the statistics of the table, without which each page of many tools would sort all of them', async () => {
      await execute(`insert into tools (name, display_name, description, status, input_schema, workspace_id)
        select 'many_' || n, 'Many', 'One of many', 'ACTIVE', '{}', 'default' from generate_series(1, 1300) n`)
      expect((await stores.tools.offered('default')).tools).toHaveLength(1300)
      const statement = `select reltuples::int as rows from pg_class where oid = 'tools'::regclass`
      expect(rowsOfResult<{ rows: number }>(await execute(statement))[0]?.rows).toBe(1300)
      await execute(`delete from tools where name like 'many_%'`)
    })

    it('returns tools that were added, changed or withdrawn since a version, and the number of the remaining ones', async () => {
      const [kept, changed, taken] = [await activate(), await activate(), await activate()]
      const { tools, seen } = await stores.tools.offered('default')
      expect(namesOf(tools)).toEqual([kept.name, changed.name, taken.name].sort())
      expect(await stores.tools.offeredSince('default', seen)).toMatchObject({ tools: [], active: 3 })
      await stores.tools.change(caller, changed.name, (now) => ({ ...now, description: 'Does something else' }))
      await stores.tools.transition(caller, taken.name, 'deactivate')
      const made = await activate()
      const since = await stores.tools.offeredSince('default', seen)
      expect(namesOf(since.tools)).toEqual([changed.name, taken.name, made.name].sort())
      expect(since.active).toBe(3)
      expect(await stores.tools.offeredSince('default', since.seen)).toMatchObject({ tools: [], active: 3 })
      await stores.tools.remove(caller, kept.name)
      expect(await stores.tools.offeredSince('default', since.seen)).toMatchObject({ tools: [], active: 2 })
    })

    it('has all read anew where the name of a category or very many tools changed', async () => {
      const category = await stores.categories.create(caller, { name: 'before' })
      const tool = await activate(category.id)
      const { seen } = await stores.tools.offered('default')
      await stores.categories.change(caller, category.id, { name: 'after' })
      const renamed = await stores.tools.offeredSince('default', seen)
      expect(renamed.tools).toBeUndefined()
      const { tools } = await stores.tools.offered('default')
      expect(tools.find((each) => each.tool.id === tool.id)?.category).toBe('after')
      await stores.tools.createMany(
        caller,
        Array.from({ length: 300 }, () => ({ content: newTool(), status: 'ACTIVE' as const })),
      )
      expect((await stores.tools.offeredSince('default', renamed.seen)).tools).toBeUndefined()
    })

    if (several)
      it('misses nothing of a transaction that began before the look and ended after it', async () => {
        const { seen: before } = await stores.tools.offered('default')
        let meanwhile: Awaited<ReturnType<Stores['tools']['offeredSince']>> | undefined
        const content = newTool()
        await stores.transaction(async (inside) => {
          await inside.tools.create(caller, content)
          meanwhile = await stores.tools.offeredSince('default', before)
        })
        expect(namesOf(meanwhile?.tools)).not.toContain(content.name)
        const after = await stores.tools.offeredSince('default', meanwhile?.seen ?? '')
        expect(namesOf(after.tools)).toContain(content.name)
      })
  })
}
