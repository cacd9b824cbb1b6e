import { sql } from 'drizzle-orm'
import { TooldexError } from '../../base/errors.ts'
import { ExecutorType } from '../../contract/executor-kinds.ts'
import { registryLimits } from '../../contract/registry.ts'
import { type Db, rowsOfResult } from '../database.ts'
import { maxDurationMs } from '../executions/finish.ts'
import { toolCategories, toolStatus, tools, toolVersions } from '../schema.ts'
import { executionStatus, toolExecutions } from '../schema-runs.ts'
import {
  findVersion,
  legacyText,
  legacyTime,
  legacyTimes,
  type NumberedVersion,
  numberVersions,
  type OldRow,
  toToolRow,
  toVersionRow,
} from './rows.ts'
import { checkRenamedTables, legacySchema, type OldTable, oldTables, tableExists } from './tables.ts'

// The first data model had versions such as "1.0.0", stored no scripts, and could mark several versions as latest. Its tables are
// moved to another schema, the current tables are created, and every row is converted; the old tables stay in that schema.
const batch = 500

/** Moves the old tables to their own schema. */
export async function renameOldTables(db: Db): Promise<void> {
  await checkRenamedTables(db)
  await db.execute(sql.raw(`create schema ${legacySchema}`))
  for (const table of oldTables)
    await db.execute(sql.raw(`alter table if exists public.${table} set schema ${legacySchema}`))
  const types = await db.execute(sql`
    select distinct t.typname as name from pg_type t
    join pg_attribute a on a.atttypid = t.oid join pg_class c on c.oid = a.attrelid
    where t.typnamespace = 'public'::regnamespace and t.typtype = 'e' and c.relnamespace = ${legacySchema}::regnamespace`)
  for (const { name } of rowsOfResult<{ name: string }>(types))
    await db.execute(sql.raw(`alter type public."${name.replaceAll('"', '""')}" set schema ${legacySchema}`))
}

/** Converts every row; versions are numbered by their creation time. */
export async function convertRows(db: Db, onStep: (name: string) => void): Promise<void> {
  const categories = await readAll(db, 'tool_categories')
  const oldTools = await readAll(db, 'tools')
  const oldVersions = await readAll(db, 'tool_versions')
  checkOlderRows(categories, oldTools, oldVersions)
  checkToolStatuses(oldTools)
  await insertCategories(db, categories)
  const versions = numberVersions(oldTools, oldVersions)
  const rows = oldTools.map((tool) => toToolRow(tool, versions.get(String(tool.id)) ?? []))
  for (const part of parts(rows)) await db.insert(tools).values([...part])
  const versionRows = oldTools.flatMap((tool) => {
    const numbered = versions.get(String(tool.id)) ?? []
    return numbered.map((version) => toVersionRow(tool, version, numbered.length))
  })
  for (const part of parts(versionRows)) await db.insert(toolVersions).values([...part])
  const executions = await convertExecutions(db, oldTools, versions)
  onStep(
    `${rows.length} tools, ${versionRows.length} versions, ${executions} executions and ${categories.length} categories converted`,
  )
}

/** Converts page by page, because there may be millions of rows. */
async function convertExecutions(
  db: Db,
  oldTools: readonly OldRow[],
  versions: ReadonlyMap<string, readonly NumberedVersion[]>,
): Promise<number> {
  if (!(await tableExists(db, `${legacySchema}.tool_executions`))) return 0
  const names = new Map(oldTools.map((tool) => [String(tool.id), String(tool.name)]))
  let count = 0
  for (let after = ''; ; ) {
    const page = rowsOfResult<JsonRow>(
      await db.execute(sql`select ${rowWithTime} from ${sql.raw(`${legacySchema}.tool_executions`)} t
        where t.id::text > ${after} order by t.id::text limit ${batch}`),
    ).map(toOldRow)
    const last = page.at(-1)
    if (last === undefined) return count
    checkStatuses('execution', page.map(executionStatusOf), executionStatus.enumValues)
    await db.insert(toolExecutions).values(page.map((row) => toExecutionRow(row, names, versions)))
    count += page.length
    after = String(last.id)
  }
}

/** Reads rows as JSON, so that missing columns make no difference. */
async function readAll(db: Db, table: OldTable): Promise<readonly OldRow[]> {
  if (!(await tableExists(db, `${legacySchema}.${table}`))) return []
  const result = await db.execute(sql`select ${rowWithTime} from ${sql.raw(`${legacySchema}.${table}`)} t`)
  return rowsOfResult<JsonRow>(result).map(toOldRow)
}

interface JsonRow {
  readonly row: string
  readonly made_us: string | number | null
}

// json keeps the order of keys where the old column did. Microseconds order two versions of the same millisecond, which a
// Date cannot.
const rowWithTime = sql.raw(
  'to_json(t)::text as row, (extract(epoch from t.created_at) * 1000000)::bigint::text as made_us',
)
const toOldRow = ({ row, made_us }: JsonRow): OldRow => ({ ...(JSON.parse(row) as OldRow), made_us })

/** Inserts parents first. */
async function insertCategories(db: Db, categories: readonly OldRow[]): Promise<void> {
  const waiting = new Map(categories.map((category) => [String(category.id), category]))
  while (waiting.size > 0) {
    const ready = [...waiting.values()].filter(({ parent_id }) => parent_id == null || !waiting.has(String(parent_id)))
    if (ready.length === 0) throw circleError()
    for (const row of ready) {
      waiting.delete(String(row.id))
      await db.insert(toolCategories).values({
        id: String(row.id),
        name: String(row.name),
        description: row.description == null ? null : String(row.description),
        parentId: row.parent_id == null ? null : String(row.parent_id),
        ...legacyTimes(row),
      })
    }
  }
}

function* parts<Item>(items: readonly Item[]): Generator<readonly Item[]> {
  for (let start = 0; start < items.length; start += batch) yield items.slice(start, start + batch)
}

function toExecutionRow(
  row: OldRow,
  names: ReadonlyMap<string, string>,
  versions: ReadonlyMap<string, readonly NumberedVersion[]>,
): typeof toolExecutions.$inferInsert {
  const toolId = legacyText(row.tool_id)
  const name = names.get(toolId ?? '')
  const numbered = versions.get(toolId ?? '') ?? []
  return {
    id: String(row.id),
    toolId: name === undefined ? null : toolId,
    toolName: name ?? 'unknown',
    version: findVersion(numbered, row),
    legacyVersion: legacyText(row.version),
    ...endOf(row),
    inputData: row.input_data ?? {},
    outputData: row.output_data ?? null,
    startedAt: legacyTime(row.started_at),
    callerId: legacyText(row.caller_id),
    traceId: legacyText(row.trace_id),
    ...legacyTimes(row),
  }
}

/** A run in progress has no process that could end it, and must not be repeated. */
function endOf(row: OldRow) {
  const status = executionStatusOf(row)
  const end = {
    status: status as 'FAILED',
    errorCode: null,
    errorMessage: legacyText(row.error_message),
    completedAt: legacyTime(row.completed_at),
    durationMs: row.duration_ms == null ? null : Math.min(Number(row.duration_ms), maxDurationMs),
  }
  if (status !== 'PENDING' && status !== 'RUNNING') return end
  return {
    ...end,
    status: 'FAILED' as const,
    errorCode: 'WORKER_LOST',
    errorMessage: `The run was ${status} when the database was migrated, and no process is left to end it.`,
    completedAt:
      end.completedAt ?? legacyTime(row.updated_at) ?? legacyTime(row.started_at) ?? legacyTime(row.created_at),
  }
}

/** The status of an old run; a missing one means PENDING. */
const executionStatusOf = ({ status }: OldRow): string => String(status ?? 'PENDING')

const maxListed = 10
const maxValueLength = 60

/** Rejects values that the current schema cannot store, all at once: a silently changed value would be lost. */
function checkOlderRows(categories: readonly OldRow[], tools: readonly OldRow[], versions: readonly OldRow[]): void {
  const names = new Map(tools.map((tool) => [String(tool.id), String(tool.name)]))
  rejectProblems([
    ...categories.flatMap(({ name }) => tooLong(`the name of the category ${shorten(name)}`, name, 'category')),
    ...tools.flatMap(problemsOfTool),
    ...versions.flatMap((row) =>
      notObjects(`version ${shorten(row.version)} of the tool ${shorten(names.get(String(row.tool_id)))}`, row),
    ),
  ])
}

/** Rejects unknown statuses. */
function checkStatuses(kind: string, statuses: readonly unknown[], valid: readonly string[]): void {
  const unknown = new Set(statuses.map((status) => String(status ?? '')).filter((status) => !valid.includes(status)))
  if (unknown.size === 0) return
  const list = [...unknown].slice(0, maxListed).join(', ')
  throw new TooldexError('MIGRATION_FAILED', `Unknown ${kind} status: ${list}.`, {
    hint: `Set it to one of ${valid.join(', ')} in the old database first.`,
  })
}

/** The error for a category that is its own ancestor. */
const circleError = (): TooldexError =>
  new TooldexError('MIGRATION_FAILED', 'The parents of the old categories form a circle.', {
    hint: 'Nothing was changed; set parent_id of one of them to null in the old database first.',
  })

function problemsOfTool(tool: OldRow): readonly string[] {
  const the = `the tool ${shorten(tool.name)}`
  const name = String(tool.name)
  return [
    ...(/^[a-z0-9_]+$/.test(name) ? [] : [`the name of ${the} is not in snake_case`]),
    ...tooLong(`the name of ${the}`, name, 'name'),
    ...tooLong(`the display_name of ${the}`, tool.display_name, 'displayName'),
    ...tooLong(`the description of ${the}`, tool.description, 'description'),
    ...tooLong(`the script_content of ${the}`, tool.script_content, 'script'),
    ...(tool.input_schema == null ? [`input_schema of ${the} is not an object`] : []),
    ...notObjects(the, tool),
    ...problemsOfTags(the, tool.tags),
    ...(tool.executor_type == null || ExecutorType.safeParse(tool.executor_type).success
      ? []
      : [
          `the executor_type of ${the} is ${shorten(tool.executor_type)}, not one of ${ExecutorType.options.join(', ')}`,
        ]),
  ]
}

function problemsOfTags(the: string, tags: unknown): readonly string[] {
  if (tags == null) return []
  if (!Array.isArray(tags)) return [`tags of ${the} is not an array`]
  if (tags.some((tag) => typeof tag === 'object' && tag !== null))
    return [`tags of ${the} contains a value that is not a string`]
  return tags.flatMap((tag) => tooLong(`the tag ${shorten(tag)} of ${the}`, tag, 'tag'))
}

const notObjects = (the: string, row: OldRow): readonly string[] =>
  ['input_schema', 'output_schema', 'executor_config']
    .filter((field) => row[field] != null && (typeof row[field] !== 'object' || Array.isArray(row[field])))
    .map((field) => `${field} of ${the} is not an object`)

function tooLong(what: string, value: unknown, limit: keyof typeof registryLimits): readonly string[] {
  const { length } = String(value ?? '')
  const max = registryLimits[limit]
  return length > max ? [`${what} is too long: ${length} characters, ${max} at most`] : []
}

function shorten(value: unknown): string {
  const text = String(value)
  return text.length > maxValueLength ? `${text.slice(0, maxValueLength)}…` : text
}

function rejectProblems(problems: readonly string[]): void {
  if (problems.length === 0) return
  const more = problems.length > maxListed ? `; and ${problems.length - maxListed} more` : ''
  const list = problems.slice(0, maxListed).join('; ')
  throw new TooldexError('MIGRATION_FAILED', `The older tables cannot be converted: ${list}${more}.`, {
    hint: 'Nothing was changed; fix the listed problems in the old database first.',
  })
}

/** Validates the statuses of tools; a missing one means DRAFT. */
const checkToolStatuses = (tools: readonly OldRow[]): void =>
  checkStatuses(
    'tool',
    tools.map(({ status }) => status ?? 'DRAFT'),
    toolStatus.enumValues,
  )
