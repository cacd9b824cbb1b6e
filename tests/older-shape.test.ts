import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createStores, type Database, migrate, openDatabase, readMigrationState } from '../src/storage/index.ts'
import { type OlderStage, olderDatabase, olderIds } from './support/older-database.ts'
import { everything, query, run } from './support/query-database.ts'
import { type SharedPostgres, sharedPostgres } from './support/start-postgres.ts'

let server: SharedPostgres
beforeAll(async () => {
  server = await sharedPostgres()
})
afterAll(() => server.stop())

const engines = {
  embedded: () => openDatabase({}),
  PostgreSQL: async () => openDatabase({ url: await server.createDatabase({ empty: true }) }),
}
const { search, plain, version, execution } = olderIds
const draft = 'http://json-schema.org/draft-07/schema#'
const schemaOf = (n: number) => ({ $schema: draft, type: 'object', properties: { n: { const: n } } })

// The statements are the same on both engines; migrations.test.ts brings a database over on each of them.
describe('what the older shape held', () => {
  let database: Database
  const bring = async (stage: OlderStage, more: string) => {
    database = await engines.PostgreSQL()
    await run(database, `${olderDatabase(stage, 'varchar')}; ${more}`)
    await migrate(database)
  }
  const versions = () =>
    query<Record<string, unknown>>(
      database,
      `select version, legacy_version, is_latest, input_schema, output_schema, executor_config, script_content,
        created_at at time zone 'UTC' = '2025-06-01' as made_then from tool_versions where name = 'search_web' order by version`,
    )

  it('ends what was under way instead of running it again', async () => {
    await bring(
      2,
      `update tools set status = 'ACTIVE'; insert into tool_executions values
      ('${execution(4)}', '${plain}', '1.0.0', 'RUNNING', '{}', NULL, NULL, '2025-03-01', NULL, NULL, 'me', NULL, '2025-03-01', '2025-03-03'),
      ('${execution(5)}', '${plain}', '1.0.0', NULL, '{}', NULL, NULL, NULL, NULL, 77, 'me', NULL, '2025-03-01', '2025-03-04'),
      ('${execution(6)}', '${plain}', '1.0.0', 'CANCELLED', '{}', NULL, 'no', NULL, NULL, NULL, 'me', NULL, '2025-03-01', '2025-03-04')`,
    )
    const { executions } = createStores(database)
    const claimed = await executions.claim('w', { limit: 100, labels: [''], leaseMs: 60_000 })
    expect([claimed, await executions.sweep()]).toEqual([[], { lost: [], retried: [], expired: [] }])
    const ends = await Promise.all([3, 4, 5, 6].map((at) => executions.get('default', execution(at))))
    const lost = { status: 'FAILED', errorCode: 'WORKER_LOST' }
    expect(ends).toMatchObject([
      { ...lost, errorMessage: expect.stringContaining('was PENDING'), completedAt: '2025-03-02T00:00:00.000Z' },
      {
        ...lost,
        errorMessage: expect.stringContaining('was RUNNING when the database was migrated'),
        startedAt: '2025-03-01T00:00:00.000Z',
        completedAt: '2025-03-03T00:00:00.000Z',
        durationMs: null,
      },
      { ...lost, errorMessage: expect.stringContaining('was PENDING'), durationMs: 77 },
      { status: 'CANCELLED', errorCode: null, errorMessage: 'no', completedAt: null },
    ])
    await database.close()
  })

  it.each([
    { called: '2.0.0', legacy: null, ran: 3 },
    { called: '2.1.0', legacy: '2.1.0', ran: 4 },
  ])('keeps what each version was where the tool, called $called, became another', async ({ called, legacy, ran }) => {
    await bring(
      2,
      `update tools set current_version = '${called}', input_schema = '{"type":"object","properties":{"n":{"const":4}}}',
        script_content = 'now', updated_at = '2025-06-01' where id = '${search}';
      update tool_versions set script_content = 'then', output_schema = '{"type":"string"}' where id = '${version(4)}';
      insert into tool_executions values
      ('${execution(4)}', '${search}', '${called}', 'SUCCESS', '{}', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '2025-05-01', '2025-05-01')`,
    )
    const [, , third, fourth, ...rest] = await versions()
    const config = { executor_config: { url: 'https://x' } }
    expect(third).toMatchObject({ ...config, legacy_version: '2.0.0', is_latest: false, input_schema: schemaOf(3) })
    expect(third).toMatchObject({ output_schema: { $schema: draft, type: 'string' }, script_content: 'then' })
    expect(fourth).toMatchObject({ ...config, legacy_version: legacy, is_latest: true, input_schema: schemaOf(4) })
    expect(fourth).toMatchObject({ version: 4, output_schema: {}, script_content: 'now', made_then: true })
    expect(rest).toEqual([])
    expect(await query(database, "select version, script_content from tools where name = 'search_web'")).toEqual([
      { version: 4, script_content: 'now' },
    ])
    const named = await createStores(database).executions.get('default', execution(4))
    expect(named?.version).toBe(ran)
    await database.close()
  })

  it.each([1, 2] as const)(
    'takes what the newest version never kept from the tool, after %i migrations',
    async (stage) => {
      await bring(
        stage,
        `update tools set script_content = 'now', output_schema = '{"type":"number"}' where id = '${search}';
      update tool_versions set output_schema = NULL where id in ('${version(4)}', '${version(1)}')`,
      )
      const kept = await versions()
      expect(kept.map(({ output_schema, script_content }) => [output_schema, script_content])).toEqual([
        [{}, null],
        [{ $schema: draft, type: 'string' }, stage === 2 ? 'v2' : null],
        [{ $schema: draft, type: 'number' }, 'now'],
      ])
      await database.close()
    },
  )

  it('makes texts of tags that are none', async () => {
    await bring(0, `update tools set tags = '[1, null, "a", true, " a ", "", 1]' where id = '${search}'`)
    const tags = [{ tags: ['1', 'a', 'true'] }]
    expect(await query(database, "select tags from tools where name = 'search_web'")).toEqual(tags)
    expect(await query(database, "select distinct tags from tool_versions where name = 'search_web'")).toEqual(tags)
    await database.close()
  })
})

const change = (what: string) => `${olderDatabase(2, 'varchar')}; update tools set ${what} where id = '${plain}'`
const widened = (column: string, what: string) =>
  `${olderDatabase(2, 'varchar')}; alter table tools alter column ${column} type text; update tools set ${what} where id = '${plain}'`
const refusals = [
  ['a name that is not in snake_case', olderDatabase(0, 'enum', 'Bad-Name'), ['Bad-Name', 'snake_case']],
  ['a status of a tool', change("status = 'ODD'"), ['ODD']],
  [
    'a status of a run',
    `${olderDatabase(0, 'varchar')}; update tool_executions set status = 'STRANGE' where version = '1.1.0'`,
    ['STRANGE'],
  ],
  [
    'categories in a circle',
    `${olderDatabase(0, 'enum')}; update tool_categories set parent_id = '${olderIds.below}' where name = 'top'`,
    ['circle'],
  ],
  [
    'a category with a long name',
    `${olderDatabase(0, 'enum')}; update tool_categories set name = repeat('x', 200) where name = 'top'`,
    ['category xxxx', 'too long', '200', '100'],
  ],
  ['a long name', widened('name', "name = repeat('y', 101)"), ['the name of the tool yyyy', 'too long: 101']],
  ['a long display name', widened('display_name', "display_name = repeat('y', 201)"), ['display_name', 'plain']],
  ['a long description', change("description = repeat('y', 20001)"), ['description', 'plain', '20000 at most']],
  ['an unknown executor', change("executor_type = 'a_very_long_name_of_a_type'"), ['executor_type', 'plain', 'shell']],
  ['a list as a schema', change("input_schema = '[1]'"), ['input_schema of the tool plain']],
  ['null as a schema', change("input_schema = 'null'"), ['input_schema of the tool plain']],
  ['a text as a config', change(`executor_config = '"x"'`), ['executor_config of the tool plain']],
  ['tags that are no list', change("tags = '{}'"), ['tags of the tool plain']],
  ['a tag that is an object', change("tags = '[{}]'"), ['tags of the tool plain']],
  [
    'a number as a schema of a version',
    `${olderDatabase(2, 'varchar')}; update tool_versions set output_schema = '3' where version = '1.1.0'`,
    ['output_schema of version 1.1.0 of the tool search_web'],
  ],
  ['two faults at once', change("input_schema = '[1]', tags = '{}'"), ['input_schema', 'tags']],
  [
    'a schema of the name that is needed',
    `${olderDatabase(0, 'enum')}; create schema tooldex_before`,
    ['tooldex_before'],
  ],
] as const

const strange = 'create table tools (id serial primary key, name text, price int)'
const ownings = [
  ['tools', strange, 'public.tools'],
  ['a view', `create table mine (id int); create view tools as select * from mine`, 'public.tools'],
  ['versions', 'create table tool_versions (id int)', 'public.tool_versions'],
  ['settings', 'create table settings (id int)', 'public.settings'],
  ['a type', "create type execution_status as enum ('x')", 'public.execution_status'],
  [
    'versions beside the older tables',
    `${olderDatabase(0, 'enum')}; alter table tool_versions drop column changelog`,
    'public.tool_versions',
  ],
  [
    'settings beside the older tables',
    `${olderDatabase(0, 'enum')}; create table settings (id int)`,
    'public.settings',
  ],
] as const

describe('nothing is changed', () => {
  it.each(refusals)('where there is %s, which is named', async (_what, script, named) => {
    const thrown = await refusalOf('PostgreSQL', script)
    for (const part of named) expect(thrown.message).toContain(part)
    expect(thrown.message).not.toContain('could not be migrated')
    expect(thrown.hint).toMatch(/old database first|rename it|Nothing was changed/)
  })

  it.each(
    ownings.flatMap(([what, script, named], at) => {
      const both = ['embedded', 'PostgreSQL'] as const
      return (at === 0 ? both : both.slice(1)).map((engine) => ({ what, script, named, engine }))
    }),
  )('where $what of something else is in the way, on $engine', async ({ script, named, engine }) => {
    const thrown = await refusalOf(engine, script)
    expect(thrown.message).toContain(named)
    expect(thrown.message).toContain('belongs to something else')
    expect(thrown.hint).toContain('another database')
  })

  it('where our own tables have lost the list of steps that made them', async () => {
    const database = await engines.embedded()
    await migrate(database)
    await run(database, 'drop table tooldex_migrations')
    expect(await readMigrationState(database)).toMatchObject({ olderShape: false })
    await expect(migrate(database)).rejects.toMatchObject({ message: expect.stringContaining('public.tools') })
    await database.close()
  })
})

async function refusalOf(engine: keyof typeof engines, script: string) {
  const database = await engines[engine]()
  await run(database, script)
  const before = await everything(database)
  const rows = await countRows(database, before)
  const thrown = await migrate(database).then(
    () => undefined,
    (error: unknown) => error as { code: string; message: string; hint: string },
  )
  expect(thrown).toMatchObject({ code: 'MIGRATION_FAILED' })
  expect(await everything(database)).toEqual(before)
  expect(await countRows(database, before)).toEqual(rows)
  await database.close()
  return thrown as { message: string; hint: string }
}

/** How many rows there are of each of the old names that is there. */
async function countRows(database: Database, there: readonly { name: string }[]) {
  const tables = ['tools', 'tool_versions', 'tool_categories', 'tool_executions'].map((name) => `public.${name}`)
  const known = tables.filter((table) => there.some(({ name }) => name === table))
  return Promise.all(known.map((table) => query(database, `select count(*)::int as count from ${table}`)))
}
