import { and, eq, getTableColumns, sql } from 'drizzle-orm'
import { TooldexError } from '../../base/errors.ts'
import type {
  SourceChange,
  SourceFailure,
  SourceRef,
  SourceStore,
  SourceSummary,
  StoredSource,
} from '../../contract/source.ts'
import type { Caller } from '../../contract/stores.ts'
import type { Db } from '../database.ts'
import { guard, transact } from '../guard.ts'
import { recordOfferedChange } from '../record.ts'
import { namedRows } from '../rows.ts'
import { sources } from '../schema-access.ts'

const rows = namedRows(sources, 'source')
// Definitions can have megabytes.
const {
  manifest: _manifest,
  seen: _seen,
  refused: _refused,
  oauthClient: _client,
  ...columns
} = getTableColumns(sources)

/** Sources with the definitions of their tools. */
export class DatabaseSourceStore implements SourceStore {
  readonly #db: Db

  constructor(db: Db) {
    this.#db = db
  }

  list(workspace: string) {
    return guard(async () => {
      const found = await this.#db.select(columns).from(sources).where(eq(sources.workspaceId, workspace))
      return found.map(toSummary).sort((a, b) => (a.name < b.name ? -1 : 1))
    })
  }

  summary(workspace: string, name: string) {
    return guard(async () => {
      const [row] = await this.#db.select(columns).from(sources).where(named({ workspace, name }))
      return row === undefined ? undefined : toSummary(row)
    })
  }

  get(workspace: string, name: string) {
    return guard(async () => {
      const row = await rows.find(this.#db, workspace, name)
      return row === undefined ? undefined : toSource(row)
    })
  }

  create(caller: Caller, { name, server, trust }: Pick<SourceSummary, 'name' | 'server' | 'trust'>) {
    return transact(this.#db, async (db) => {
      const [row] = await db
        .insert(sources)
        .values({ workspaceId: caller.workspace, name, server, trust, createdBy: caller.actor })
        .onConflictDoNothing()
        .returning()
      if (row === undefined)
        throw new TooldexError('NAME_TAKEN', `There is already a source '${name}'.`, {
          hint: 'Choose another name, or change or remove that source.',
        })
      const after = { server, trust }
      await recordOfferedChange(db, caller, { action: 'source.create', subject: `source:${name}`, after })
      return toSource(row)
    })
  }

  change(caller: Caller, name: string, make: Parameters<SourceStore['change']>[2]) {
    return transact(this.#db, async (db) => {
      const row = await rows.lock(db, caller.workspace, name)
      const made = make(toSource(row))
      if (made === undefined) return toSource(row)
      const { action, facts, change } = made
      const [changed] = await db
        .update(sources)
        .set({ ...toRow(change), leftOut: leftOutOf(change, row), revision: row.revision + 1, updatedAt: sql`now()` })
        .where(named({ workspace: caller.workspace, name }))
        .returning()
      const after = toSource(changed as typeof row)
      const audited = ({ server, trust, approvedHash }: SourceSummary) => ({ server, trust, approvedHash })
      await recordOfferedChange(db, caller, {
        action: `source.${action}`,
        subject: `source:${name}`,
        before: audited(toSource(row)),
        after: { ...audited(after), ...facts },
      })
      return after
    })
  }

  noteAttempt(ref: SourceRef, failure: SourceFailure | null) {
    const set = failure === null ? { lastFailure: null, lastSuccessAt: new Date() } : { lastFailure: failure }
    return guard(async () => void (await this.#db.update(sources).set(set).where(named(ref))))
  }

  remove(caller: Caller, name: string) {
    return transact(this.#db, async (db) => {
      const before = toSummary(await rows.remove(db, caller, name))
      const { server, trust } = before
      await recordOfferedChange(db, caller, {
        action: 'source.remove',
        subject: `source:${name}`,
        before: { server, trust },
      })
      return before
    })
  }
}

const named = ({ workspace, name }: SourceRef) => and(eq(sources.workspaceId, workspace), eq(sources.name, name))

type Row = typeof sources.$inferSelect

const toRow = ({ manifest, ...change }: SourceChange) => ({
  ...change,
  ...(manifest === undefined ? {} : { manifest, readAt: manifest === null ? null : new Date(manifest.readAt) }),
})

/** The number of the last reading; lists do not read the definitions. */
const leftOutOf = ({ seen, manifest }: SourceChange, row: Row): number | null => {
  const read = (seen === undefined ? row.seen : seen) ?? (manifest === undefined ? row.manifest : manifest)
  return read?.leftOut ?? null
}

const toSource = (row: Row): StoredSource => ({
  ...toSummary(row),
  manifest: row.manifest,
  seen: row.seen,
  refused: row.refused,
})

const toSummary = (row: Omit<Row, 'manifest' | 'seen' | 'refused' | 'oauthClient'>): SourceSummary => ({
  name: row.name,
  server: row.server,
  trust: row.trust,
  approvedHash: row.approvedHash,
  readAt: row.readAt?.toISOString() ?? null,
  waiting: row.waiting,
  leftOut: row.leftOut,
  revision: row.revision,
  lastFailure: row.lastFailure,
  lastSuccessAt: row.lastSuccessAt?.toISOString() ?? null,
  createdAt: row.createdAt.toISOString(),
  updatedAt: row.updatedAt.toISOString(),
  createdBy: row.createdBy,
})
