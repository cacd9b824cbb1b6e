import { execFile, execFileSync } from 'node:child_process'
import { cpSync, readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createStores, type Database, migrate, openDatabase, readMigrationState } from '../src/storage/index.ts'
import { readMigrations } from '../src/storage/migrate.ts'
import { openMigrated } from './support/migrated-database.ts'
import { type OlderStage, olderDatabase, olderIds } from './support/older-database.ts'
import { everything, query, run } from './support/query-database.ts'
import { projectRoot } from './support/run-cli.ts'
import { type SharedPostgres, sharedPostgres } from './support/start-postgres.ts'
import { tempFolder } from './support/temp-folder.ts'

let server: SharedPostgres
beforeAll(async () => {
  server = await sharedPostgres()
})
afterAll(() => server.stop())

const engines = {
  embedded: () => openDatabase({}),
  PostgreSQL: async () => openDatabase({ url: await server.createDatabase({ empty: true }) }),
}
const failing = (statements: readonly string[]) => [...readMigrations(), { name: '9998_half', hash: 'x', statements }]

describe.each(Object.entries(engines))('migrations: %s', (_name, open) => {
  let database: Database
  afterAll(() => database.close())

  it('makes everything once, leaves nothing of a step that fails half way, and refuses what it does not know', async () => {
    database = await open()
    const half = failing(['create table half (id int)', 'insert into half values (1)', 'select no_such_function()'])
    const before = await everything(database)
    await expect(migrate(database, () => {}, half)).rejects.toMatchObject({ code: 'MIGRATION_FAILED' })
    expect(await everything(database)).toEqual(before)
    const [first, second]: [string[], string[]] = [[], []]
    await migrate(database, (step) => first.push(step))
    await migrate(database, (step) => second.push(step))
    expect([first, second]).toEqual([readMigrations().map(({ name }) => name), []])
    expect(await readMigrationState(database)).toMatchObject({ pending: [], olderShape: false })
    const done = await everything(database)
    await expect(migrate(database, () => {}, half)).rejects.toMatchObject({ code: 'MIGRATION_FAILED' })
    expect(await everything(database)).toEqual(done)
    await database.db.execute(sql`insert into tooldex_migrations (name, hash) values ('9999_later', 'x')`)
    const newer = {
      code: 'MIGRATION_FAILED',
      message: expect.stringContaining('9999_later'),
      hint: expect.stringContaining('newer'),
    }
    await expect(migrate(database)).rejects.toMatchObject(newer)
    await database.db.execute(sql`delete from tooldex_migrations where name = '9999_later'`)
    await database.db.execute(sql`update tooldex_migrations set hash = 'changed'`)
    await expect(migrate(database)).rejects.toMatchObject({ message: expect.stringContaining('differs') })
  })
})

it('finds a current embedded database without a transaction', async () => {
  const database = await openMigrated()
  const { slow: _slow, ...rest } = database
  const refusing = {
    ...rest,
    get slow(): never {
      throw new Error('a transaction was opened')
    },
  }
  await expect(migrate(refusing)).resolves.toBeUndefined()
  await expect(migrate(refusing, () => {}, failing(['select 1']))).rejects.toThrow('a transaction was opened')
  await database.close()
})

it('builds an index of a table in use while others write, and again where a build was cut off', async () => {
  const database = await engines.PostgreSQL()
  await migrate(database)
  const add = `insert into tool_executions (workspace_id, tool_name, input_data) values ('default', 'any', '{}')`
  const text = 'CREATE INDEX CONCURRENTLY "tool_executions_probe" ON "tool_executions" ("tool_name")'
  const more = [...readMigrations(), { name: '9998_probe', hash: 'x', statements: [text] }]
  const isBuilding = () =>
    query(
      database,
      `select 1 from pg_stat_activity where datname = current_database() and query like 'CREATE INDEX CONC%' and wait_event_type = 'Lock'`,
    )
  const isValid = () =>
    query(database, `select indisvalid from pg_index where indexrelid = to_regclass('tool_executions_probe')`)
  let migrated: Promise<void> | undefined
  await database.db.transaction(async (open) => {
    await open.execute(sql.raw(add))
    migrated = migrate(database, () => {}, more)
    await expect.poll(isBuilding).toHaveLength(1)
    await database.db.execute(sql.raw(add))
  })
  await migrated
  expect(await isValid()).toEqual([{ indisvalid: true }])
  await run(database, `update pg_index set indisvalid = false where indexrelid = 'tool_executions_probe'::regclass`)
  await migrate(database, () => {}, more)
  expect(await isValid()).toEqual([{ indisvalid: true }])
  await database.close()
})

describe('rows that were stored before the order of keys was kept', () => {
  it('keep their content, and take the order of the next change', async () => {
    const database = await openDatabase({})
    const before = readMigrations().filter(({ name }) => name < '0007_workers')
    await migrate(database, () => {}, before)
    await run(
      database,
      `insert into tools (name, display_name, description, input_schema, executor_type, executor_config)
        values ('old', 'Old', 'Old.', '{"type": "object", "properties": {"to": {}, "source": {}}}', 'shell', '{"command": ["a"]}');
      insert into tool_executions (tool_name, status, input_data, output_data) values ('old', 'SUCCESS', '{"b": 1.50, "a": 2}', '"11"')`,
    )
    await migrate(database)
    const { tools, executions } = createStores(database)
    expect(await tools.get('default', 'old')).toMatchObject({
      inputSchema: { type: 'object', properties: { to: {}, source: {} } },
      executorConfig: { command: ['a'] },
      outputSchema: {},
      annotations: {},
    })
    const { items } = await executions.list('default', { limit: 1 })
    expect(await executions.get('default', items[0]?.id ?? '')).toMatchObject({
      inputData: { a: 2, b: 1.5 },
      outputData: '11',
    })
    const inputSchema = { properties: { source: {}, to: {} }, type: 'object' }
    await tools.change({ workspace: 'default', actor: 'me' }, 'old', (now) => ({ ...now, inputSchema }))
    expect(JSON.stringify((await tools.get('default', 'old'))?.inputSchema)).toBe(JSON.stringify(inputSchema))
    await database.close()
  })
})

const shapes = ([0, 1, 2, 3] as const).flatMap((stage) => [
  { stage, status: 'enum' as const, engine: 'PostgreSQL' as const },
  { stage, status: 'varchar' as const, engine: stage === 1 ? ('embedded' as const) : ('PostgreSQL' as const) },
])

describe('a database of the older shape', () => {
  it.each(shapes)(
    'after $stage of its migrations, status as $status, on $engine: comes over row by row',
    async (shape) => {
      const database = await engines[shape.engine]()
      await run(database, olderDatabase(shape.stage, shape.status))
      expect(await readMigrationState(database)).toMatchObject({ olderShape: true })
      await migrate(database)
      await checkRows(database, shape.stage)
      expect(await readMigrationState(database)).toMatchObject({ olderShape: false, pending: [] })
      await migrate(database)
      await createStores(database).tools.change({ workspace: 'default', actor: 'me' }, 'plain', (now) => ({
        ...now,
        notes: 'n',
      }))
      await database.close()
    },
  )
})

async function checkRows(database: Database, stage: OlderStage): Promise<void> {
  const draft = 'http://json-schema.org/draft-07/schema#'
  const tools = await query(
    database,
    "select id, name, status::text as status, version, category_id, tags, input_schema, script_content, created_at::timestamptz at time zone 'UTC' = '2025-01-01 10:00:00.5' as early from tools order by name",
  )
  expect(tools).toEqual([
    {
      id: olderIds.plain,
      name: 'plain',
      status: 'DRAFT',
      version: 1,
      category_id: null,
      tags: [],
      input_schema: { $schema: draft, type: 'object' },
      script_content: stage >= 1 ? 'def main(): pass' : null,
      early: false,
    },
    {
      id: olderIds.search,
      name: 'search_web',
      status: 'ACTIVE',
      version: 3,
      category_id: olderIds.below,
      tags: ['web'],
      input_schema: { $schema: draft, type: 'object', properties: { n: { const: 3 } } },
      script_content: null,
      early: true,
    },
  ])
  const versions = await query(
    database,
    'select name, version, legacy_version, changelog, is_latest, executor_config, script_content from tool_versions order by name, version',
  )
  const script = stage >= 1 ? 'def main(): pass' : null
  expect(versions).toEqual([
    {
      name: 'plain',
      version: 1,
      legacy_version: stage === 3 ? '1' : '1.0.0',
      changelog: null,
      is_latest: true,
      executor_config: {},
      script_content: script,
    },
    {
      name: 'search_web',
      version: 1,
      legacy_version: '1.0.0',
      changelog: 'first',
      is_latest: false,
      executor_config: {},
      script_content: null,
    },
    {
      name: 'search_web',
      version: 2,
      legacy_version: '1.1.0',
      changelog: 'second',
      is_latest: false,
      executor_config: { b: 1 },
      script_content: stage >= 2 ? 'v2' : null,
    },
    {
      name: 'search_web',
      version: 3,
      legacy_version: '2.0.0',
      changelog: 'third',
      is_latest: true,
      executor_config: { url: 'https://x' },
      script_content: null,
    },
  ])
  const executions = await query(
    database,
    'select tool_name, version, legacy_version, status::text as status, input_data, output_data, error_code, error_message, duration_ms, caller_id, trace_id from tool_executions order by id',
  )
  const rest = {
    output_data: null,
    error_code: null,
    error_message: null,
    duration_ms: null,
    caller_id: null,
    trace_id: null,
  }
  expect(executions).toEqual([
    {
      ...rest,
      tool_name: 'search_web',
      version: 1,
      legacy_version: '1.0.0',
      status: 'SUCCESS',
      input_data: { q: 1 },
      output_data: { ok: true },
      duration_ms: 60000,
      caller_id: 'me',
      trace_id: 'trace',
    },
    {
      ...rest,
      tool_name: 'search_web',
      version: 2,
      legacy_version: '1.1.0',
      status: 'FAILED',
      input_data: {},
      error_message: 'broke',
    },
    {
      ...rest,
      tool_name: 'plain',
      version: 1,
      legacy_version: '1.0.0',
      status: 'FAILED',
      input_data: [],
      error_code: 'WORKER_LOST',
      error_message: expect.stringContaining('The run was PENDING'),
    },
  ])
  expect(await query(database, 'select name, description, parent_id from tool_categories order by name')).toEqual([
    { name: 'below', description: null, parent_id: olderIds.top },
    { name: 'top', description: 'all', parent_id: null },
  ])
  expect(await query(database, 'select id from tooldex_before.tool_versions')).toHaveLength(3)
}

describe('processes and files', () => {
  it('lets one of several processes that start at once migrate, and the others wait', async () => {
    const url = await server.createDatabase({ empty: true })
    const database = await openDatabase({ url })
    await run(database, olderDatabase(0, 'enum'))
    await database.close()
    const script = join(import.meta.dirname, 'support/migrate-once.mjs')
    const start = () => promisify(execFile)(process.execPath, [script], { env: { ...process.env, DATABASE_URL: url } })
    const took = (await Promise.all([start(), start(), start()])).map(({ stdout }) => JSON.parse(stdout) as string[])
    expect(took.map((steps) => steps.length).sort()).toEqual([0, 0, readMigrations().length + 2])
  })

  it('has migrations that are what the schema says', () => {
    const folder = tempFolder()
    for (const part of ['src', 'migrations', 'drizzle.config.ts', 'package.json', 'tsconfig.json'])
      cpSync(join(projectRoot, part), join(folder, part), { recursive: true })
    symlinkSync(join(projectRoot, 'node_modules'), join(folder, 'node_modules'))
    const before = readdirSync(join(folder, 'migrations'))
    const said = execFileSync('npx', ['drizzle-kit', 'generate'], { cwd: folder, encoding: 'utf8' })
    expect(said).toContain('nothing to migrate')
    expect(readdirSync(join(folder, 'migrations'))).toEqual(before)
  })
})
