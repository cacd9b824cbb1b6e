import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { composeProcess } from '../src/app/compose.ts'
import { createToolCheck } from '../src/operations/checks/check-tool.ts'
import { readDumpLines } from '../src/operations/database/dump-file.ts'
import { invoke } from '../src/operations/invoke.ts'
import { verifyAudit } from '../src/operations/registry/audit.ts'
import { createStores, type Database, migrate, openDatabase, restoreDump, writeDump } from '../src/storage/index.ts'
import { readMigrations } from '../src/storage/migrate.ts'
import { openMigrated } from './support/migrated-database.ts'
import { query, run } from './support/query-database.ts'
import { projectRoot } from './support/run-cli.ts'
import { type SharedPostgres, sharedPostgres } from './support/start-postgres.ts'

let server: SharedPostgres
beforeAll(async () => {
  server = await sharedPostgres()
})
afterAll(() => server.stop())

const engines = {
  embedded: { migrated: () => openMigrated(), empty: () => openDatabase({}) },
  PostgreSQL: {
    migrated: async () => openMigrated({ url: await server.createDatabase() }),
    empty: async () => openDatabase({ url: await server.createDatabase({ empty: true }) }),
  },
}

/** Verifies the log of a workspace. */
function verify(database: Database, workspace = 'default', input: { head?: string; after?: number } = {}) {
  const registry = { stores: createStores(database), check: createToolCheck({}) }
  const context = composeProcess({ configs: [] })
  return invoke(verifyAudit, input, { ...context, registry, caller: { ...context.caller, workspace } })
}

/** A workspace with this many rows. */
async function fill(database: Database, workspace: string, rows = 5): Promise<void> {
  await run(database, `insert into workspaces (id) values ('${workspace}') on conflict do nothing`)
  const { audit } = createStores(database)
  for (let row = 1; row <= rows; row++)
    await audit.add(
      { workspace, actor: 'key:ann', requestId: `r${row}` },
      {
        action: 'tool.change',
        subject: `tool:t${row}`,
        after: { row, text: 'é " \u2028 \\', list: [1, { b: 2, a: null }] },
      },
    )
}

const content = 'workspace_id, at, actor, action, subject, before, after, request_id'
/** What is done to the rows of a workspace by SQL, and how it is reported. */
const attacks: readonly (readonly [name: string, script: (workspace: string) => string, found: object])[] = [
  [
    'another actor',
    (w) => `update audit_entries set actor = 'key:bob' where ${in_(w, 3)}`,
    { kind: 'changed', sequence: 3, row: { actor: 'key:bob' } },
  ],
  [
    'another value',
    (w) => `update audit_entries set after = '{"row":2}' where ${in_(w, 2)}`,
    { kind: 'changed', sequence: 2 },
  ],
  [
    'another time',
    (w) => `update audit_entries set at = at - interval '1 day' where ${in_(w, 5)}`,
    { kind: 'changed', sequence: 5 },
  ],
  [
    'a changed row with a new hash',
    (w) => `update audit_entries set hash = repeat('a', 64), previous_hash = repeat('b', 64) where ${in_(w, 4)}`,
    { kind: 'changed', sequence: 4 },
  ],
  [
    'a removed row',
    (w) => `delete from audit_entries where ${in_(w, 3)}`,
    { kind: 'removed', sequence: 3, row: { subject: 'tool:t4' } },
  ],
  ['a removed first row', (w) => `delete from audit_entries where ${in_(w, 1)}`, { kind: 'removed', sequence: 1 }],
  [
    'a removed end',
    (w) => `delete from audit_entries where workspace_id = '${w}' and sequence > 3`,
    { kind: 'truncated', sequence: 4, row: null },
  ],
  ['no rows left', (w) => `delete from audit_entries where workspace_id = '${w}'`, { kind: 'truncated', sequence: 1 }],
  [
    'an inserted row',
    (w) => `insert into audit_entries (${content}) select ${content} from audit_entries where ${in_(w, 2)}`,
    { kind: 'inserted', sequence: 6 },
  ],
  [
    'an inserted copy of a row',
    (w) =>
      `insert into audit_entries (${content}, sequence, previous_hash, hash) select ${content}, sequence, previous_hash, hash from audit_entries where ${in_(w, 2)}`,
    { kind: 'inserted', sequence: 2 },
  ],
  [
    'an inserted row beyond the head',
    (w) =>
      `insert into audit_entries (${content}, sequence, previous_hash, hash) select ${content}, 6, hash, repeat('c', 64) from audit_entries where ${in_(w, 5)}`,
    { kind: 'inserted', sequence: 6 },
  ],
  [
    'two rows with swapped contents',
    (w) =>
      `update audit_entries e set subject = o.subject, after = o.after from audit_entries o where e.${in_(w)} and o.${in_(w)} and e.sequence in (2, 3) and o.sequence = 5 - e.sequence`,
    { kind: 'changed', sequence: 2 },
  ],
  [
    'two rows with swapped numbers',
    (w) => `update audit_entries set sequence = 7 - sequence where ${in_(w)} and sequence in (3, 4)`,
    { kind: 'changed', sequence: 4 },
  ],
  [
    'another head',
    (w) => `update audit_heads set hash = repeat('d', 64) where ${in_(w)}`,
    { kind: 'replaced', sequence: 5 },
  ],
  ['no head', (w) => `delete from audit_heads where ${in_(w)}`, { kind: 'inserted', sequence: 1 }],
]
const in_ = (workspace: string, sequence?: number) =>
  `workspace_id = '${workspace}'${sequence === undefined ? '' : ` and sequence = ${sequence}`}`

describe.each(Object.entries(engines))('the chain of the audit log: %s', (_name, open) => {
  let database: Database
  beforeAll(async () => {
    database = await open.migrated()
  })
  afterAll(() => database.close())

  it('is intact for every way of writing, and has the rows of one workspace without gaps', async () => {
    await fill(database, 'intact', 3)
    const stores = createStores(database)
    const caller = { workspace: 'intact', actor: 'key:ann' }
    await stores.policies.put(caller, {
      name: 'p',
      policy: { executor: { type: 'local', volumes: [] }, default: 'enabled', tools: {} },
    })
    await stores.transaction(async (inner) => {
      await inner.audit.add(caller, { action: 'outer', subject: 'x' })
      const failing = inner.transaction(async ({ audit }) => {
        await audit.add(caller, { action: 'undone', subject: 'x' })
        throw new Error('undone')
      })
      await expect(failing).rejects.toThrow()
      await inner.transaction(({ audit }) => audit.add(caller, { action: 'inner', subject: 'x' }))
    })
    await expect(
      stores.transaction(async ({ audit }) => {
        await audit.add(caller, { action: 'undone', subject: 'x' })
        throw new Error('undone')
      }),
    ).rejects.toThrow()
    const { items } = await stores.audit.list('intact', { limit: 100 })
    expect(items.map(({ sequence, action }) => [sequence, action])).toEqual([
      [6, 'inner'],
      [5, 'outer'],
      [4, 'policy.create'],
      [3, 'tool.change'],
      [2, 'tool.change'],
      [1, 'tool.change'],
    ])
    const head = { sequence: 6, hash: items[0]?.hash }
    expect(await verify(database, 'intact')).toEqual({ intact: true, rows: 6, head, firstBreak: null })
    expect(await verify(database, 'intact', { after: 4, head: String(items[2]?.hash) })).toMatchObject({
      intact: true,
      rows: 2,
      head,
    })
  })

  it('shows each change by SQL at the row where the chain breaks', async () => {
    const found: unknown[] = []
    for (const [index, [name, script]] of attacks.entries()) {
      await fill(database, `attack-${index}`)
      expect(await verify(database, `attack-${index}`), name).toMatchObject({ intact: true, rows: 5 })
      await run(database, script(`attack-${index}`))
      const { intact, firstBreak } = await verify(database, `attack-${index}`)
      found.push([name, intact, firstBreak])
    }
    expect(found).toEqual(
      attacks.map(([name, , expected]) => [name, false, expect.objectContaining(withRow(expected))]),
    )
  })

  it('shows the removal of the end with the head, and of a rewritten chain, by the head that was noted', async () => {
    await fill(database, 'noted')
    const { head } = await verify(database, 'noted')
    const hash = String(head?.hash)
    expect(await verify(database, 'noted', { head: hash })).toMatchObject({ intact: true })
    await run(
      database,
      `delete from audit_entries where ${in_('noted')} and sequence > 3; update audit_heads h set sequence = 3, hash = e.hash
      from audit_entries e where h.${in_('noted')} and e.${in_('noted')} and e.sequence = 3`,
    )
    expect(await verify(database, 'noted')).toMatchObject({ intact: true, rows: 3 })
    const answer = await verify(database, 'noted', { head: hash })
    expect(answer).toMatchObject({ intact: false, rows: 3, firstBreak: { kind: 'truncated', sequence: 4 } })
    expect(answer.firstBreak?.message).toContain(hash)
  })

  it('survives a dump and a restore, with the same head', async () => {
    await fill(database, 'dumped')
    const { head } = await verify(database, 'dumped')
    const lines: string[] = []
    await writeDump(database, async (line) => void lines.push(line))
    const other = await open.migrated()
    const all = async function* () {
      yield* lines
    }
    await restoreDump(other, { lines: all, replace: true })
    expect(await verify(other, 'dumped')).toEqual({ intact: true, rows: 5, head, firstBreak: null })
    await fill(other, 'dumped', 1)
    expect(await verify(other, 'dumped')).toMatchObject({ intact: true, rows: 6 })
    await other.close()
  })

  it('begins with the rows that were there before it', async () => {
    const older = await open.empty()
    const migrations = readMigrations()
    const at = migrations.findIndex(({ name }) => name.endsWith('_audit_chain'))
    expect(at).toBeGreaterThan(0)
    await migrate(older, () => {}, migrations.slice(0, at))
    await run(
      older,
      `insert into workspaces (id) values ('second');
      insert into audit_entries (workspace_id, actor, action, subject, before, after)
        select case when n % 3 = 0 then 'second' else 'default' end, 'key:ann', 'tool.change', 'tool:t' || n, '{"big": 12345678901234567890}', null
        from generate_series(1, 500) n`,
    )
    await migrate(older)
    expect([await verify(older), await verify(older, 'second')]).toMatchObject([
      { intact: true, rows: 334 },
      { intact: true, rows: 166 },
    ])
    await run(older, `update audit_entries set before = '{"big": 12345678901234567891}' where ${in_('second', 80)}`)
    await fill(older, 'default', 1)
    expect([await verify(older), await verify(older, 'second')]).toMatchObject([
      { intact: true, rows: 335 },
      { intact: false, rows: 79, firstBreak: { kind: 'changed', sequence: 80 } },
    ])
    await older.close()
  })
})

const withRow = ({ row, ...rest }: { row?: object | null }) => ({
  ...rest,
  ...(row === undefined ? {} : { row: row === null ? null : expect.objectContaining(row) }),
})

it('is one chain for concurrent writers of several replicas', async () => {
  const url = await server.createDatabase()
  const replicas = await Promise.all([openMigrated({ url }), openMigrated({ url })])
  await Promise.all(
    [...replicas, ...replicas].map(async (replica, writer) => {
      const stores = createStores(replica)
      for (let row = 0; row < 15; row++) {
        const caller = { workspace: 'default', actor: `key:w${writer}` }
        if (row % 3 === 0) await stores.categories.create(caller, { name: `c${writer}_${row}` })
        else await stores.audit.add(caller, { action: 'x', subject: `row:${row}` })
      }
    }),
  )
  expect(await verify(replicas[0])).toMatchObject({ intact: true, rows: 60, head: { sequence: 60 } })
  const rows = await query<{ at: string; sequence: number }>(
    replicas[1],
    'select at, sequence from audit_entries order by id',
  )
  expect(rows.map(({ sequence }) => Number(sequence))).toEqual(rows.map((_, index) => index + 1))
  await Promise.all(replicas.map((replica) => replica.close()))
})

it('is made for the rows of a backup from before it', async () => {
  const database = await openMigrated()
  await restoreDump(database, {
    lines: () => readDumpLines(join(projectRoot, 'tests/fixtures/backup-0.1.jsonl.gz')),
    replace: true,
  })
  const { rows, intact } = await verify(database)
  expect([intact, rows > 0]).toEqual([true, true])
  await database.close()
})
