import { describe, expect, it } from 'vitest'
import { openDatabase } from './index.ts'
import { DatabaseLearningStore } from './learning-store.ts'
import { migrate } from './migrate.ts'

describe('DatabaseLearningStore', () => {
  it('makes room by forgetting what was not used for longest, in this workspace only', async () => {
    const database = await openDatabase({})
    await migrate(database)
    await database.db.execute(`insert into workspaces (id) values ('other')`)
    const store = new DatabaseLearningStore(database.db, { maxRows: 4, leftRows: 2, maxCharacters: 5 })
    const pause = () => new Promise((resolve) => setTimeout(resolve, 3))
    await store.note('other', 'theirs', 'x')
    for (const query of ['one', 'two', 'three', 'four', 'one', 'fifteen']) {
      await store.note('default', query, 'x')
      await pause()
    }
    const { items, total } = await store.since('default')
    expect(items.map(({ query, successes }) => [query, successes])).toEqual([
      ['one', 2],
      ['fifte', 1],
    ])
    expect(total).toBe(2)
    expect((await store.since('other')).total).toBe(1)
    await database.close()
  })
})
