import { and, eq, gt, inArray, isNotNull, isNull, lte, or, sql } from 'drizzle-orm'
import type { ApiKey, Caller, KeyScope, KeyStore } from '../../contract/stores.ts'
import { type Database, type Db, SharedReads } from '../database.ts'
import { runChannel } from '../executions/notices.ts'
import { guard, transact } from '../guard.ts'
import { record } from '../record.ts'
import { namedRows, toIso } from '../rows.ts'
import { apiKeys, workspaces } from '../schema.ts'
import { sourceSignIns } from '../schema-access.ts'

// The channel for notices about revoked keys.
const revokedChannel = 'tooldex_keys'
// The time of the last use has a resolution of one minute, to avoid a write for every request.
const useResolution = sql`interval '1 minute'`

const rows = namedRows(apiKeys, 'key')

type FoundKey = NonNullable<Awaited<ReturnType<KeyStore['find']>>>

/** API keys, as hashes. */
export class DatabaseKeyStore implements KeyStore {
  readonly #db: Db
  readonly #listen: Database['listen']
  #byHash: ReturnType<typeof prepareFinder> | undefined
  readonly #reads = new SharedReads<FoundKey | undefined>()

  constructor(db: Db, listen: Database['listen']) {
    this.#db = db
    this.#listen = listen
  }

  create(caller: Caller, draft: Parameters<KeyStore['create']>[1]) {
    return transact(this.#db, async (db) => {
      const { name, hash, prefix, scopes, codeMode = false, expiresAt, toolsets } = draft
      await db.insert(workspaces).values({ id: caller.workspace }).onConflictDoNothing()
      const [row] = await db
        .insert(apiKeys)
        .values({
          workspaceId: caller.workspace,
          createdBy: caller.actor,
          name,
          hash,
          prefix,
          scopes: [...scopes],
          toolsets: toolsets === undefined ? null : [...toolsets],
          codeMode,
          expiresAt: expiresAt === undefined ? null : new Date(expiresAt),
        })
        .returning()
      const key = toKey(row as typeof apiKeys.$inferSelect)
      const after = { scopes, codeMode, expiresAt, toolsets }
      await record(db, caller, { action: 'key.create', subject: `key:${name}`, after })
      return key
    })
  }

  find(hash: string) {
    return guard(() => this.#reads.read(hash, () => this.#find(hash)))
  }

  async #find(hash: string): Promise<FoundKey | undefined> {
    this.#byHash ??= prepareFinder(this.#db)
    const [found] = await this.#byHash.execute({ hash })
    if (found === undefined) return undefined
    const { row, registryState } = found
    if (row.lastUsedAt === null || Date.now() - row.lastUsedAt.getTime() > 60_000) await this.#noteUse(row.id)
    return { ...toKey(row), registryState }
  }

  list(workspace: string) {
    return guard(async () => (await rows.list(this.#db, workspace)).map(toKey))
  }

  revoke(caller: Caller, idOrName: string, check?: Parameters<KeyStore['revoke']>[2]) {
    return transact(this.#db, async (db) => {
      // Locks all of them: two keys that are revoked at once must not both count on the other.
      const own = eq(apiKeys.workspaceId, caller.workspace)
      const all = await db.select().from(apiKeys).where(own).orderBy(apiKeys.id).for('update')
      const before = toKey(await rows.lock(db, caller.workspace, idOrName))
      if (before.revokedAt !== null) return before
      check?.(before, all.map(toKey))
      const [row] = await db.update(apiKeys).set({ revokedAt: sql`now()` }).where(eq(apiKeys.id, before.id)).returning()
      const after = toKey(row as typeof apiKeys.$inferSelect)
      const change = { before: toRecord(before), after: toRecord(after) }
      await record(db, caller, { action: 'key.revoke', subject: `key:${after.name}`, ...change })
      // First the key, so that its requests end with an error instead of the cancelled run.
      await db.execute(sql`select pg_notify(${revokedChannel}, ${after.id})`)
      await cancelRuns(db, after)
      const { workspaceId, caller: owner } = sourceSignIns
      await db.delete(sourceSignIns).where(and(eq(workspaceId, caller.workspace), eq(owner, `key:${after.name}`)))
      return after
    })
  }

  findInvalid(ids: readonly string[]) {
    return guard(async () => {
      const isInvalid = or(isNotNull(apiKeys.revokedAt), lte(apiKeys.expiresAt, sql`now()`))
      const invalid = await this.#db
        .select({ id: apiKeys.id })
        .from(apiKeys)
        .where(and(inArray(apiKeys.id, [...ids]), isInvalid))
      return invalid.map(({ id }) => id)
    })
  }

  listen(onRevoked: (keyId: string) => void) {
    return this.#listen(revokedChannel, onRevoked)
  }

  count() {
    return guard(() => this.#db.$count(apiKeys))
  }

  async #noteUse(id: string): Promise<void> {
    const old = or(isNull(apiKeys.lastUsedAt), sql`${apiKeys.lastUsedAt} < now() - ${useResolution}`)
    await this.#db
      .update(apiKeys)
      .set({ lastUsedAt: sql`now()` })
      .where(and(eq(apiKeys.id, id), old))
  }
}

// The counter of changes alone would repeat itself after the import of a file.
const registryState = sql<string>`${workspaces.changes} || '.' || ${workspaces}.xmin::text`

/** The query of every request is prepared once. */
function prepareFinder(db: Db) {
  const valid = and(
    eq(apiKeys.hash, sql.placeholder('hash')),
    isNull(apiKeys.revokedAt),
    or(isNull(apiKeys.expiresAt), gt(apiKeys.expiresAt, sql`now()`)),
  )
  return db
    .select({ row: apiKeys, registryState })
    .from(apiKeys)
    .innerJoin(workspaces, eq(workspaces.id, apiKeys.workspaceId))
    .where(valid)
    .prepare('key_by_hash')
}

/** Cancels the calls of a key that have not started; running ones are cancelled by their worker. */
async function cancelRuns(db: Db, { name, workspace }: ApiKey): Promise<void> {
  const own = sql`workspace_id = ${workspace} and caller_id = ${`key:${name}`}`
  await db.execute(sql`
    with ended as (
      update tool_executions set status = 'CANCELLED', error_code = 'EXECUTION_CANCELLED', completed_at = now(), updated_at = now(),
        error_message = case when status = 'PENDING' then 'The key of the caller was revoked before the call started.'
          else 'The key of the caller was revoked.' end
      where ${own} and (status = 'PENDING' or (status = 'RUNNING' and worker is null)) returning id
    ), requested as (
      update tool_executions set cancel_requested = true, updated_at = now()
      where ${own} and status = 'RUNNING' and worker is not null and not cancel_requested returning id
    )
    select pg_notify(${runChannel}, 'changed:' || id) from ended
    union all select pg_notify(${runChannel}, 'cancel:' || id) from requested`)
}

/** The fields of a key in the audit log; nothing of its secret. */
const toRecord = ({ name, scopes, codeMode, expiresAt, revokedAt }: ApiKey) => ({
  name,
  scopes,
  codeMode,
  expiresAt,
  revokedAt,
})

function toKey(row: typeof apiKeys.$inferSelect): ApiKey {
  return {
    id: row.id,
    workspace: row.workspaceId,
    name: row.name,
    prefix: row.prefix,
    scopes: row.scopes as KeyScope[],
    toolsets: row.toolsets,
    codeMode: row.codeMode,
    createdAt: row.createdAt.toISOString(),
    createdBy: row.createdBy,
    expiresAt: toIso(row.expiresAt),
    revokedAt: toIso(row.revokedAt),
    lastUsedAt: toIso(row.lastUsedAt),
  }
}
