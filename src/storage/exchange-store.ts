import { and, desc, eq, lt, sql } from 'drizzle-orm'
import type { Caller, ExchangeStore } from '../contract/stores.ts'
import type { Db } from './database.ts'
import { guard } from './guard.ts'
import { idempotentAnswers } from './schema.ts'

// A hash of a request is longer, so that no Idempotency-Key refers to such a row.
const marker = 'exchange'
const maxPerCaller = 1000

/** Values in the table of stored responses, which has the same owner, lifetime and clean-up. */
export class DatabaseExchangeStore implements ExchangeStore {
  readonly #db: Db

  constructor(db: Db) {
    this.#db = db
  }

  async put(caller: Caller, id: string, value: unknown): Promise<void> {
    const { workspace: workspaceId, actor: keyId } = caller
    const body = value ?? null
    await guard(async () => {
      await this.#db
        .insert(idempotentAnswers)
        .values({ workspaceId, keyId, idempotencyKey: id, bodyHash: marker, status: 0, body })
        .onConflictDoUpdate({
          target: [idempotentAnswers.workspaceId, idempotentAnswers.keyId, idempotentAnswers.idempotencyKey],
          set: { body, createdAt: sql`now()` },
          setWhere: eq(idempotentAnswers.bodyHash, marker),
        })
      await this.#prune(caller)
    })
  }

  get(caller: Caller, id: string): Promise<unknown> {
    return guard(async () => {
      const [row] = await this.#db
        .select({ body: idempotentAnswers.body })
        .from(idempotentAnswers)
        .where(one(caller, id))
      return row?.body
    })
  }

  take(caller: Caller, id: string): Promise<unknown> {
    return guard(async () => {
      const [row] = await this.#db
        .delete(idempotentAnswers)
        .where(one(caller, id))
        .returning({ body: idempotentAnswers.body })
      return row?.body
    })
  }

  /** Keeps the newest values of a caller. */
  async #prune(caller: Caller): Promise<void> {
    const [oldest] = await this.#db
      .select({ createdAt: idempotentAnswers.createdAt })
      .from(idempotentAnswers)
      .where(ownedBy(caller))
      .orderBy(desc(idempotentAnswers.createdAt))
      .offset(maxPerCaller)
      .limit(1)
    if (oldest === undefined) return
    await this.#db
      .delete(idempotentAnswers)
      .where(and(ownedBy(caller), lt(idempotentAnswers.createdAt, oldest.createdAt)))
  }
}

const ownedBy = ({ workspace, actor }: Caller) =>
  and(
    eq(idempotentAnswers.workspaceId, workspace),
    eq(idempotentAnswers.keyId, actor),
    eq(idempotentAnswers.bodyHash, marker),
  )

const one = (caller: Caller, id: string) =>
  and(
    ownedBy(caller),
    eq(idempotentAnswers.idempotencyKey, id),
    sql`${idempotentAnswers.createdAt} > now() - interval '24 hours'`,
  )
