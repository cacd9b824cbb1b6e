import { and, eq, inArray, isNotNull, isNull, lt, or, sql } from 'drizzle-orm'
import type { SealedTokens, SignInRef, SignInState, SignInStore, StoredSignIn } from '../../contract/sign-in.ts'
import type { SourceRef } from '../../contract/source.ts'
import type { Caller } from '../../contract/stores.ts'
import type { Db } from '../database.ts'
import { guard, transact } from '../guard.ts'
import { recordOfferedChange } from '../record.ts'
import { sourceSignIns, sources } from '../schema-access.ts'

const nextRevision = sql`${sourceSignIns.revision} + 1`

/** Stores sign-ins whose tokens are already encrypted. */
export class DatabaseSignInStore implements SignInStore {
  readonly #db: Db

  constructor(db: Db) {
    this.#db = db
  }

  list(workspace: string, callers: readonly string[]) {
    return guard(async () => {
      const { workspaceId, caller } = sourceSignIns
      const rows = await this.#db
        .select()
        .from(sourceSignIns)
        .where(and(eq(workspaceId, workspace), inArray(caller, [...callers])))
      return rows.map(toState)
    })
  }

  get(ref: SignInRef) {
    return guard(async () => {
      const [row] = await this.#db.select().from(sourceSignIns).where(of(ref))
      return row === undefined ? undefined : toStored(row)
    })
  }

  put(actor: Caller, ref: SignInRef, { sealed, issuer, scope }: SealedTokens) {
    return transact(this.#db, async (db) => {
      const { workspace: workspaceId, name: source, caller } = ref
      const set = { sealed, issuer, scope, failure: null, refreshingUntil: null }
      const [row] = await db
        .insert(sourceSignIns)
        .values({ workspaceId, source, caller, ...set })
        .onConflictDoUpdate({
          target: [sourceSignIns.workspaceId, sourceSignIns.source, sourceSignIns.caller],
          set: { ...set, revision: nextRevision, signedInAt: sql`now()`, updatedAt: sql`now()` },
        })
        .returning()
      const subject = `source:${source}`
      await recordOfferedChange(db, actor, {
        action: 'source.sign-in',
        subject,
        after: { account: caller || 'shared', issuer, scope },
      })
      return toState(row as Row)
    })
  }

  claimRefresh(ref: SignInRef, revision: number, ms: number) {
    return guard(async () => {
      const { refreshingUntil } = sourceSignIns
      const claimed = await this.#db
        .update(sourceSignIns)
        .set({ refreshingUntil: sql`now() + ${ms} * interval '1 millisecond'` })
        .where(and(at(ref, revision), or(isNull(refreshingUntil), lt(refreshingUntil, sql`now()`))))
        .returning({ revision: sourceSignIns.revision })
      return claimed.length > 0
    })
  }

  endRefresh(ref: SignInRef, revision: number, tokens: SealedTokens | undefined) {
    const set = tokens === undefined ? {} : { sealed: tokens.sealed, scope: tokens.scope, revision: nextRevision }
    return guard(
      async () =>
        void (await this.#db
          .update(sourceSignIns)
          .set({ ...set, refreshingUntil: null, updatedAt: sql`now()` })
          .where(at(ref, revision))),
    )
  }

  end(actor: Caller, ref: SignInRef, failure?: { readonly revision: number; readonly reason: string }) {
    return transact(this.#db, async (db) => {
      const where = failure === undefined ? and(of(ref), isNotNull(sourceSignIns.sealed)) : at(ref, failure.revision)
      const reason = failure?.reason ?? null
      const [row] = await db
        .update(sourceSignIns)
        .set({ sealed: null, failure: reason, refreshingUntil: null, revision: nextRevision, updatedAt: sql`now()` })
        .where(where)
        .returning()
      if (row === undefined) return false
      const action = failure === undefined ? 'source.sign-out' : 'source.sign-in-lost'
      const before = { account: ref.caller || 'shared', issuer: row.issuer, ...(reason === null ? {} : { reason }) }
      await recordOfferedChange(db, actor, { action, subject: `source:${ref.name}`, before })
      return true
    })
  }

  client(ref: SourceRef) {
    return guard(async () => {
      const [row] = await this.#db.select({ client: sources.oauthClient }).from(sources).where(ofSource(ref))
      return row?.client ?? null
    })
  }

  keepClient(ref: SourceRef, sealed: string) {
    return guard(async () => void (await this.#db.update(sources).set({ oauthClient: sealed }).where(ofSource(ref))))
  }
}

type Row = typeof sourceSignIns.$inferSelect

const ofSource = ({ workspace, name }: SourceRef) => and(eq(sources.workspaceId, workspace), eq(sources.name, name))

const of = ({ workspace, name, caller }: SignInRef) =>
  and(eq(sourceSignIns.workspaceId, workspace), eq(sourceSignIns.source, name), eq(sourceSignIns.caller, caller))

/** The row as long as its tokens are those of a revision. */
const at = (ref: SignInRef, revision: number) =>
  and(of(ref), eq(sourceSignIns.revision, revision), isNotNull(sourceSignIns.sealed))

const toStored = ({ source, caller, sealed, issuer, scope, failure, revision, signedInAt }: Row): StoredSignIn => ({
  source,
  caller,
  sealed,
  issuer,
  scope,
  failure,
  revision,
  signedInAt: signedInAt.toISOString(),
})

function toState(row: Row): SignInState {
  const { sealed, ...state } = toStored(row)
  return { ...state, isSignedIn: sealed !== null }
}
