import { and, eq, isNull, lt, sql } from 'drizzle-orm'
import type { Caller, IdempotencyStore } from '../contract/stores.ts'
import type { Db } from './database.ts'
import { guard } from './guard.ts'
import { idempotentAnswers } from './schema.ts'

const retention = sql`interval '24 hours'`
// A process without a response by then is assumed dead, and the request may be repeated.
const responseTimeout = sql`interval '60 seconds'`

/** Responses by Idempotency-Key, kept for a day. */
export class DatabaseIdempotencyStore implements IdempotencyStore {
  readonly #db: Db

  constructor(db: Db) {
    this.#db = db
  }

  claim({ workspace: workspaceId, actor: keyId }: Caller, idempotencyKey: string, bodyHash: string) {
    return guard(async () => {
      await this.#db.delete(idempotentAnswers).where(lt(idempotentAnswers.createdAt, sql`now() - ${retention}`))
      const claimed = await this.#db
        .insert(idempotentAnswers)
        .values({ workspaceId, keyId, idempotencyKey, bodyHash })
        .onConflictDoNothing()
        .returning({ key: idempotentAnswers.idempotencyKey })
      if (claimed.length > 0) return 'fresh' as const
      const [existing] = await this.#db
        .select()
        .from(idempotentAnswers)
        .where(one(workspaceId, keyId, idempotencyKey))
      if (existing === undefined) return 'running' as const
      if (existing.bodyHash !== bodyHash) return 'other-body' as const
      if (existing.status !== null) return { status: existing.status, body: existing.body }
      return (await this.#takeOver(workspaceId, keyId, idempotencyKey)) ? ('fresh' as const) : ('running' as const)
    })
  }

  /** Claims the key of a dead process, for exactly one of the waiting requests. */
  async #takeOver(workspace: string, keyId: string, key: string): Promise<boolean> {
    const late = and(isNull(idempotentAnswers.status), lt(idempotentAnswers.createdAt, sql`now() - ${responseTimeout}`))
    const taken = await this.#db
      .update(idempotentAnswers)
      .set({ createdAt: sql`now()` })
      .where(and(one(workspace, keyId, key), late))
      .returning({ key: idempotentAnswers.idempotencyKey })
    return taken.length > 0
  }

  async keep({ workspace, actor }: Caller, key: string, { status, body }: { status: number; body: unknown }) {
    await guard(() =>
      this.#db
        .update(idempotentAnswers)
        .set({ status, body })
        .where(one(workspace, actor, key)),
    )
  }

  async forget({ workspace, actor }: Caller, key: string) {
    await guard(() => this.#db.delete(idempotentAnswers).where(one(workspace, actor, key)))
  }
}

const one = (workspace: string, keyId: string, key: string) =>
  and(
    eq(idempotentAnswers.workspaceId, workspace),
    eq(idempotentAnswers.keyId, keyId),
    eq(idempotentAnswers.idempotencyKey, key),
  )
