// A process that owns the embedded database and writes to it until it is ended: prints each name that is kept.

import { ToolDraft } from '../../dist/contract/registry.js'
import { createStores, migrate, openDatabase } from '../../dist/storage/index.js'

const database = await openDatabase({ home: process.env.TOOLDEX_HOME })
await migrate(database)
const stores = createStores(database)
for (let at = 0; ; at++) {
  const draft = {
    name: `kept_${at}`,
    displayName: 'x',
    description: 'x',
    inputSchema: {},
    executorType: 'shell',
    executorConfig: { command: ['true'] },
  }
  await stores.tools.create({ workspace: 'default', actor: 'tester' }, ToolDraft.parse(draft))
  process.stdout.write(`kept_${at}\n`)
}
