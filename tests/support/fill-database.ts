import { randomUUID } from 'node:crypto'
import { sql } from 'drizzle-orm'
import type { Caller, Stores } from '../../src/contract/stores.ts'
import type { Database } from '../../src/storage/index.ts'
import { newTool } from '../../src/storage/stores.suite.ts'

const caller: Caller = { workspace: 'default', actor: 'tester' }

/** Something in every table, odd texts and long numbers among it. */
export async function fillDatabase({ db }: Database, stores: Stores, texts: readonly string[]): Promise<void> {
  const tag = randomUUID().slice(0, 8)
  const top = await stores.categories.create(caller, { name: `top ${tag}` })
  const below = await stores.categories.create(caller, { name: `below ${tag}`, parentId: top.id })
  await stores.categories.create(caller, { name: `deep ${tag}`, parentId: below.id, description: texts[0] ?? null })
  for (const text of texts) {
    const name = `t_${randomUUID().replaceAll('-', '_')}`
    const tool = await stores.tools.create(
      caller,
      newTool({ name, notes: text, tags: ['ä', 'b'], categoryId: below.id }),
    )
    await stores.tools.change(
      caller,
      tool.id,
      ({ id: _, status: _s, version: _v, createdAt: _c, updatedAt: _u, ...content }) => ({
        ...content,
        description: `${text} again`,
      }),
    )
    await stores.tools.transition(caller, tool.id, 'activate')
    await stores.proposals.create(caller, { toolId: tool.id, baseVersion: 2, change: { notes: text }, reason: text })
    await db.execute(sql`insert into tool_executions (tool_id, tool_name, version, input_data, output_data)
      values (${tool.id}, ${name}, 1, '{"n": 12345678901234567890.123, "one": 1.0}', ${JSON.stringify({ text })}::text::jsonb)`)
  }
  await stores.keys.create(caller, { name: `key ${tag}`, hash: `hash ${tag}`, prefix: 'tdx_', scopes: ['read'] })
  for (const text of texts) await stores.learning.note('default', `${text} ${tag}`, `core:${tag}`)
  await stores.answers.claim(caller, `answer ${tag}`, 'body')
  await db.execute(
    sql`insert into policies (workspace_id, name, policy) values ('default', ${`p ${tag}`}, '{"a": [1]}')`,
  )
  await db.execute(sql`insert into settings (name, value) values (${`Z ${tag}`}, '"z"'), (${`ä ${tag}`}, '1')`)
}
