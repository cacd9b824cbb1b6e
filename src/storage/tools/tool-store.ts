import { and, eq, type SQL, sql } from 'drizzle-orm'
import { TooldexError } from '../../base/errors.ts'
import { sameOrderedJson } from '../../base/json-values.ts'
import type { ToolStatus } from '../../contract/catalog.ts'
import type { ToolListQuery } from '../../contract/registry.ts'
import { type RegisteredTool, type ToolContent, type Transition, transitions } from '../../contract/registry.ts'
import type {
  Caller,
  ChangeOptions,
  Expected,
  NewTool,
  PageQuery,
  RegistryState,
  ToolStore,
} from '../../contract/stores.ts'
import { isExpectedTool, toolTag } from '../../rules/expected.ts'
import { renameInPolicies } from '../access/policy-store.ts'
import { selectTags, updateTag } from '../categories/tags.ts'
import { type Db, KeptReads, SharedReads } from '../database.ts'
import { guard, transact } from '../guard.ts'
import type { Cursors } from '../page.ts'
import { type Change, recordOfferedChange } from '../record.ts'
import { contentKeys, isUuid, namedRows, toolContentOf, toTool, toVersion } from '../rows.ts'
import { toolCategories, tools, toolVersions } from '../schema.ts'
import { addVersion, insertTools } from './add-tools.ts'
import { listOffered, listOfferedSince } from './list-offered.ts'
import { selectTools, selectVersions } from './list-tools.ts'

const rows = namedRows(tools, 'tool', 'TOOL_NOT_FOUND')
/** The maximum number of kept tools, each with its script. */
const maxKept = 200

export class DatabaseToolStore implements ToolStore {
  readonly #db: Db
  readonly #cursors: () => Promise<Cursors>
  readonly #reads = new SharedReads<RegisteredTool | undefined>()
  readonly #kept = new KeptReads<RegisteredTool | undefined>(maxKept)
  #prepared: ReturnType<typeof prepareFinders> | undefined

  constructor(db: Db, cursors: () => Promise<Cursors>) {
    this.#db = db
    this.#cursors = cursors
  }

  create(caller: Caller, content: ToolContent, options: ChangeOptions & { status?: ToolStatus } = {}) {
    return transact(this.#db, async (db) => {
      await checkCategory(db, caller.workspace, content.categoryId)
      const { workspace: workspaceId } = caller
      const status = options.status ?? 'DRAFT'
      const [row] = await db
        .insert(tools)
        .values({ ...content, workspaceId, status })
        .returning()
      const tool = toTool(row as typeof tools.$inferSelect)
      await addVersion(db, caller, tool, options.changelog)
      const after = { ...toolContentOf(tool), status, version: tool.version }
      await recordOfferedChange(db, caller, { action: 'tool.create', subject: `tool:${tool.name}`, after })
      return tool
    })
  }

  createMany(caller: Caller, drafts: readonly NewTool[]) {
    // The transaction of the caller has its own time limit.
    const withinMs = Number.POSITIVE_INFINITY
    const make = async (db: Db) => {
      for (const categoryId of new Set(drafts.map(({ content }) => content.categoryId)))
        await checkCategory(db, caller.workspace, categoryId)
      await insertTools(db, caller, drafts)
    }
    return transact(this.#db, make, { withinMs })
  }

  get(workspace: string, idOrName: string, state?: RegistryState) {
    const find = async () => {
      const { byId, byName } = this.#finders()
      const found = isUuid(idOrName)
        ? byId.execute({ workspace, id: idOrName.toLowerCase() })
        : byName.execute({ workspace, name: idOrName })
      const [row] = await found
      return row === undefined ? undefined : toTool(row)
    }
    const key = JSON.stringify([workspace, idOrName])
    return this.#kept.read(key, state, () => this.#reads.read(key, () => guard(find)))
  }

  /** The most frequent queries are prepared once. */
  #finders() {
    this.#prepared ??= prepareFinders(this.#db)
    return this.#prepared
  }

  list(workspace: string, query: ToolListQuery) {
    return guard(async () => selectTools(this.#db, await this.#cursors(), workspace, query))
  }

  offered(workspace: string) {
    return guard(() => listOffered(this.#db, workspace))
  }

  offeredSince(workspace: string, seen: string) {
    return guard(() => listOfferedSince(this.#db, workspace, seen))
  }

  change(
    caller: Caller,
    idOrName: string,
    make: (current: RegisteredTool) => ToolContent | Promise<ToolContent>,
    options: ChangeOptions = {},
  ) {
    return transact(this.#db, async (db) => {
      const current = await lockTool(db, caller, idOrName, options.expectedVersion)
      const [before, after] = [toolContentOf(current), toolContentOf(await make(current))]
      if (sameOrderedJson(before, after)) return { tool: current, changed: false }
      await checkCategory(db, caller.workspace, after.categoryId)
      if (before.name !== after.name) await renameInPolicies(db, caller, before.name, after.name)
      const [row] = await db
        .update(tools)
        .set({ ...after, version: current.version + 1, updatedAt: sql`now()` })
        .where(eq(tools.id, current.id))
        .returning()
      const tool = toTool(row as typeof tools.$inferSelect)
      await addVersion(db, caller, tool, options.changelog)
      await recordOfferedChange(db, caller, toChange(current, tool, options))
      return { tool, changed: true }
    })
  }

  transition(caller: Caller, idOrName: string, step: Transition, options: ChangeOptions = {}) {
    return transact(this.#db, async (db) => {
      const current = await lockTool(db, caller, idOrName, options.expectedVersion)
      const { from, to } = transitions[step]
      if (current.status !== from) throw illegalStep(current, step)
      const [row] = await db
        .update(tools)
        .set({ status: to, updatedAt: sql`now()` })
        .where(eq(tools.id, current.id))
        .returning()
      const [before, after] = [{ status: from }, { status: to }]
      await recordOfferedChange(db, caller, { action: `tool.${step}`, subject: `tool:${current.name}`, before, after })
      return toTool(row as typeof tools.$inferSelect)
    })
  }

  remove(caller: Caller, idOrName: string, options: ChangeOptions = {}) {
    return transact(this.#db, async (db) => {
      const current = await lockTool(db, caller, idOrName, options.expectedVersion)
      await db.delete(tools).where(eq(tools.id, current.id))
      const before = { ...toolContentOf(current), status: current.status, version: current.version }
      await recordOfferedChange(db, caller, { action: 'tool.delete', subject: `tool:${current.name}`, before })
      return current
    })
  }

  versions(workspace: string, toolId: string, query: PageQuery) {
    return guard(async () => selectVersions(this.#db, await this.#cursors(), workspace, toolId, query))
  }

  version(workspace: string, toolId: string, version: number) {
    return guard(async () => {
      const [row] = await this.#db
        .select({ version: toolVersions })
        .from(toolVersions)
        .innerJoin(tools, eq(tools.id, toolVersions.toolId))
        .where(and(eq(tools.workspaceId, workspace), eq(tools.id, toolId), eq(toolVersions.version, version)))
      return row === undefined ? undefined : toVersion(row.version)
    })
  }

  tags(workspace: string, names?: ReadonlySet<string>) {
    return guard(() => selectTags(this.#db, workspace, names))
  }

  renameTag(caller: Caller, from: string, to: string) {
    return transact(this.#db, (db) =>
      updateTag(db, caller, { from, to }, async (tool) => {
        await addVersion(db, caller, tool, `tag '${from}' renamed to '${to}'`)
      }),
    )
  }
}

function prepareFinders(db: Db) {
  const inWorkspace = eq(tools.workspaceId, sql.placeholder('workspace'))
  const find = (one: SQL) => db.select().from(tools).where(and(inWorkspace, one)).limit(1)
  return {
    byId: find(eq(tools.id, sql.placeholder('id'))).prepare('tool_by_id'),
    byName: find(eq(tools.name, sql.placeholder('name'))).prepare('tool_by_name'),
  }
}

/** Reads a tool in the expected version, and locks it until the end of the transaction. */
async function lockTool(db: Db, { workspace }: Caller, idOrName: string, expected?: Expected): Promise<RegisteredTool> {
  const tool = toTool(await rows.lock(db, workspace, idOrName))
  checkExpected(tool, expected)
  return tool
}

/** A category of another workspace is reported as not found. */
async function checkCategory(db: Db, workspace: string, categoryId: string | null): Promise<void> {
  if (categoryId === null) return
  const [found] = await db
    .select({ id: toolCategories.id })
    .from(toolCategories)
    .where(and(eq(toolCategories.workspaceId, workspace), eq(toolCategories.id, categoryId)))
    .for('key share')
  if (found !== undefined) return
  const problems = [{ severity: 'error', pointer: '/categoryId', message: 'category not found' }] as const
  throw new TooldexError('TOOL_INVALID', 'The category of the tool does not exist.', { problems })
}

function checkExpected(tool: RegisteredTool, expected: Expected | undefined): void {
  if (isExpectedTool(tool, expected)) return
  if (typeof expected === 'number')
    throw new TooldexError('STALE', `${tool.name} is at version ${tool.version}, not ${expected}.`)
  throw new TooldexError('STALE', `If-Match does not match: the current ETag of ${tool.name} is "${toolTag(tool)}".`)
}

function illegalStep(tool: RegisteredTool, step: Transition): TooldexError {
  const possible = Object.entries(transitions).filter(([, { from }]) => from === tool.status)
  const names = possible.map(([name]) => name)
  const message = `${tool.name} is ${tool.status} and cannot ${step}; possible now: ${names.join(', ') || 'none'}, delete.`
  return new TooldexError('ILLEGAL_STEP', message)
}

/** The audit entry of a change: the differing fields and the versions, before and after. */
function toChange(before: RegisteredTool, after: RegisteredTool, { backTo }: ChangeOptions): Change {
  const keys = contentKeys.filter((key) => !sameOrderedJson(before[key], after[key]))
  const pick = (tool: RegisteredTool) => ({
    ...Object.fromEntries(keys.map((key) => [key, tool[key]])),
    version: tool.version,
  })
  const subject = `tool:${after.name}`
  if (backTo === undefined) return { action: 'tool.change', subject, before: pick(before), after: pick(after) }
  return { action: 'tool.rollback', subject, before: pick(before), after: { ...pick(after), backTo } }
}
