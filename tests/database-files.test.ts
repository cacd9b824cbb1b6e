import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { getTableName, sql } from 'drizzle-orm'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { rowsOfResult } from '../src/storage/database.ts'
import { dumpedTables, knownTables } from '../src/storage/dump/write-dump.ts'
import { createStores, type Database, migrate, openDatabase, restoreDump, writeDump } from '../src/storage/index.ts'
import { readMigrations } from '../src/storage/migrate.ts'
import { newTool } from '../src/storage/stores.suite.ts'
import { fillDatabase } from './support/fill-database.ts'
import { migratedHome, openMigrated } from './support/migrated-database.ts'
import { projectRoot, runCli } from './support/run-cli.ts'
import { runInline } from './support/run-here.ts'
import { type SharedPostgres, sharedPostgres } from './support/start-postgres.ts'
import { tempFile, tempFolder } from './support/temp-folder.ts'

const caller = { workspace: 'default', actor: 'tester' } as const
const at = '2026-01-01T00:00:00.000Z'
let server: SharedPostgres
beforeAll(async () => {
  server = await sharedPostgres()
})
afterAll(() => server.stop())

async function open(where: { url?: string; home?: string }): Promise<Database> {
  const database = await openMigrated(where)
  onTestFinished(() => database.close())
  return database
}
const openServer = async () => open({ url: await server.createDatabase() })

async function linesOf(database: Database): Promise<string[]> {
  const lines: string[] = []
  await writeDump(database, async (line) => void lines.push(line), at)
  return lines
}
const restore = (database: Database, lines: readonly string[], replace = false) =>
  restoreDump(database, {
    replace,
    lines: async function* () {
      yield* lines
    },
  })

describe('the file of a whole database', () => {
  it('has every table', () => {
    expect(new Set(dumpedTables.map(getTableName))).toEqual(new Set(knownTables.map(getTableName)))
  })

  it('moves everything from one engine to the other and back, whatever the texts (property)', async () => {
    const [embedded, postgres] = [await open({}), await openServer()]
    const text = fc.string({ unit: 'binary', maxLength: 30 }).map((value) => value.replaceAll('\0', ''))
    const texts = fc.array(text, { minLength: 1, maxLength: 3 })
    await fc.assert(
      fc.asyncProperty(texts, async (some) => {
        await fillDatabase(embedded, createStores(embedded), [...some, 'line\u2028end\n"\\', '💡'])
        const before = await linesOf(embedded)
        await restore(postgres, before, true)
        expect(await linesOf(postgres)).toEqual(before)
        await restore(embedded, await linesOf(postgres), true)
        expect(await linesOf(embedded)).toEqual(before)
      }),
      { numRuns: 4 },
    )
    expect((await linesOf(embedded)).some((line) => line.includes('12345678901234567890.123'))).toBe(true)
    const properties = { zeta: {}, a: { title: 'A', enum: [{ y: 1, x: 2 }] } }
    await createStores(embedded).tools.create(caller, newTool({ name: 'in_order', inputSchema: { properties } }))
    await restore(postgres, await linesOf(embedded), true)
    const restored = await createStores(postgres).tools.get('default', 'in_order')
    expect(JSON.stringify(restored?.inputSchema)).toBe(JSON.stringify({ properties }))
    // Counters go on where the rows end.
    await createStores(postgres).tools.create(caller, newTool({ name: 'after_all' }))
  })

  it('goes page by page through more rows than a page has', async () => {
    const [from, to] = [await openServer(), await openServer()]
    await from.db.execute(sql`insert into tool_executions (tool_name, version, input_data)
      select 'x', 1, jsonb_build_object('n', n) from generate_series(1, 1203) n`)
    await from.db.execute(sql`insert into tool_categories (name, parent_id) values ('root', null)`)
    await from.db.execute(sql`insert into tool_categories (name, parent_id)
      select 'c' || n, (select id from tool_categories where name = 'root') from generate_series(1, 700) n`)
    const lines = await linesOf(from)
    expect(lines).toHaveLength(1203 + 701 + 2 + 2)
    await restore(to, lines)
    expect(await linesOf(to)).toEqual(lines)
  })

  it('is one snapshot, while others write', async () => {
    const database = await openServer()
    const stores = createStores(database)
    let running = true
    const writing = (async () => {
      for (let n = 0; running; n++) {
        const tool = await stores.tools.create(caller, newTool({ name: `busy_${n}` }))
        if (n % 3 === 0) await stores.tools.remove(caller, tool.id)
      }
    })()
    const other = await open({})
    for (let round = 0; round < 3; round++) {
      const lines = await linesOf(database)
      const count = (table: string) => lines.filter((line) => line.startsWith(`["${table}"`)).length
      expect(count('tool_versions')).toBe(count('tools'))
      await restore(other, lines, true)
    }
    running = false
    await writing
  })

  it('is refused where it is cut off, changed or of a newer release, and nothing changes', async () => {
    const [from, to] = [await open({}), await openServer()]
    await fillDatabase(from, createStores(from), ['a'])
    const lines = await linesOf(from)
    await fillDatabase(to, createStores(to), ['b'])
    const before = await linesOf(to)
    const refuse = (changed: readonly string[]) => expect(restore(to, changed, true)).rejects
    await refuse(lines.slice(0, -1)).toMatchObject({ code: 'FILE_REFUSED' })
    await refuse(lines.slice(0, 5)).toMatchObject({ code: 'FILE_REFUSED' })
    await refuse([]).toMatchObject({ code: 'FILE_REFUSED' })
    await refuse(['{}']).toMatchObject({ code: 'FILE_REFUSED' })
    await refuse(lines.filter((_, index) => index !== 4)).toMatchObject({ code: 'FILE_REFUSED' })
    await refuse(lines.map((line) => line.replace('"a again"', '"b again"'))).toMatchObject({ code: 'FILE_REFUSED' })
    await refuse([...lines, '[]']).toMatchObject({ code: 'FILE_REFUSED' })
    await refuse(lines.map((line) => line.replace('["policies"', '["pg_class"'))).toMatchObject({
      code: 'FILE_REFUSED',
    })
    const newer = lines.map((line, index) =>
      index === 0 ? line.replace('_registry"', '_registry","9999_later"') : line,
    )
    await refuse(newer).toMatchObject({ code: 'MIGRATION_FAILED', message: expect.stringContaining('9999_later') })
    await expect(restore(to, lines)).rejects.toMatchObject({ code: 'IN_USE' })
    expect(await linesOf(to)).toEqual(before)
  })

  it('of this release is restored by a later one, through its migrations', async () => {
    const folder = tempFolder()
    await cp(join(projectRoot, 'migrations'), folder, { recursive: true })
    const journal = JSON.parse(readFileSync(join(folder, 'meta/_journal.json'), 'utf8'))
    journal.entries.push({ tag: '9999_later' })
    tempFile('meta/_journal.json', JSON.stringify(journal), folder)
    tempFile(
      '9999_later.sql',
      'ALTER TABLE tools ADD COLUMN shout text;--> statement-breakpoint\nUPDATE tools SET shout = upper(name);--> statement-breakpoint\nALTER TABLE tools ALTER COLUMN shout SET NOT NULL;',
      folder,
    )
    const migrations = readMigrations(folder)
    const lines = gunzipSync(readFileSync(join(import.meta.dirname, 'fixtures/backup-0.1.jsonl.gz')))
      .toString()
      .trimEnd()
      .split('\n')
    for (const database of [await openDatabase({}), await openDatabase({ url: await server.createDatabase() })]) {
      onTestFinished(() => database.close())
      await migrate(database, () => {}, migrations)
      await restoreDump(database, {
        replace: false,
        migrations,
        lines: async function* () {
          yield* lines
        },
      })
      const [row] = rowsOfResult<{ name: string; shout: string }>(
        await database.db.execute(sql`select name, shout from tools order by name`),
      )
      expect(row?.shout).toBe(row?.name.toUpperCase())
    }
  })
})

describe('tooldex db', () => {
  it('migrates, shows the migration status, backs up and restores (files with mode 0600)', async () => {
    const home = tempFolder()
    const env = { TOOLDEX_HOME: home, DATABASE_URL: '' }
    const pending = JSON.parse((await runCli(['db', 'status', '--json'], { env })).stdout)
    expect(pending).toMatchObject({ engine: 'pglite', applied: [], pending: readMigrations().map(({ name }) => name) })
    const migrated = await runCli(['db', 'migrate'], { env })
    expect([migrated.code, migrated.stderr]).toEqual([0, expect.stringContaining('0000_registry')])
    expect((await runCli(['db', 'migrate'], { env })).stdout).toContain('is up to date')
    const fixture = join(import.meta.dirname, 'fixtures/backup-0.1.jsonl.gz')
    const imported = await runInline(['db', 'import', fixture, '--json'], { env })
    expect(JSON.parse(imported.stdout)).toMatchObject({ rows: { tools: 2, tool_versions: 4 } })
    const again = await runInline(['db', 'import', fixture, '--json'], { env })
    expect([again.code, JSON.parse(again.stdout).error.code]).toEqual([7, 'IN_USE'])
    const file = join(home, 'out', '..', 'backup.jsonl')
    const backup = await runInline(['db', 'backup', file], { env })
    expect([backup.code, statSync(file).mode & 0o777]).toEqual([0, 0o600])
    writeFileSync(join(home, 'cut.jsonl'), readFileSync(file).subarray(0, -20))
    const cut = await runInline(['db', 'restore', join(home, 'cut.jsonl')], { env })
    expect([cut.code, cut.stderr]).toEqual([3, expect.stringContaining('Nothing was changed')])
    expect((await runInline(['db', 'restore', file], { env })).code).toBe(0)
    const url = await server.createDatabase()
    expect((await runInline(['db', 'import', file], { env: { ...env, DATABASE_URL: url } })).code).toBe(0)
    const there = join(home, 'there.jsonl.gz')
    expect((await runInline(['db', 'export', there], { env: { ...env, DATABASE_URL: url } })).code).toBe(0)
    const rows = (text: string) => text.trimEnd().split('\n').slice(1, -1)
    expect(rows(gunzipSync(readFileSync(there)).toString())).toEqual(rows(readFileSync(file, 'utf8')))
    const out = await runCli(['db', 'export', '-'], { env, cwd: home })
    expect([out.code, rows(out.stdout)]).toEqual([0, rows(readFileSync(file, 'utf8'))])
    expect(out.stderr).toContain('rows written to standard output')
    expect(readdirSync(home)).not.toContain('-')
  })

  it('rejects files that it cannot read or write, with the reason', async () => {
    const home = migratedHome()
    const env = { TOOLDEX_HOME: home, DATABASE_URL: '' }
    const code = async (...words: string[]) => (await runInline(['db', ...words], { env })).code
    expect(await code('backup', join(home, 'no/such/folder/x'))).toBe(3)
    expect(await code('backup', home)).toBe(3)
    expect(await code('restore', join(home, 'none'))).toBe(3)
    for (const step of ['restore', 'import']) expect(await code(step, '-')).toBe(2)
    expect(await code('import', tempFile('broken.gz', new Uint8Array([0x1f, 0x8b, 8, 0, 0]), home))).toBe(3)
    expect(await code('import', tempFile('broken', new Uint8Array([0xff, 0xfe, 8, 0, 0]), home))).toBe(3)
    expect((await runInline(['db', 'status'], { env: { DATABASE_URL: 'mysql://x' } })).code).toBe(2)
  })
})
