import { and, eq, isNotNull, isNull, lte, or, sql } from 'drizzle-orm'
import { mustExist, TooldexError } from '../../base/errors.ts'
import type { ApprovalDecision, Execution } from '../../contract/execution.ts'
import type { Caller } from '../../contract/stores.ts'
import { isFinal } from '../../rules/is-final.ts'
import type { Db } from '../database.ts'
import { transact } from '../guard.ts'
import { record } from '../record.ts'
import { isUuid } from '../rows.ts'
import { apiKeys } from '../schema.ts'
import { toolExecutions as runs } from '../schema-runs.ts'
import { after } from './create.ts'
import { runChannel } from './notices.ts'
import { toExecution } from './rows.ts'

type Row = typeof runs.$inferSelect

/** Writes a decision about one run with its audit entry and notice in one transaction. */
export function decideRunApproval(
  db: Db,
  caller: Caller,
  id: string,
  { action, note }: { action: string; note?: string | undefined },
  decide: (db: Db, before: Execution) => Promise<Row | undefined>,
): Promise<{ readonly execution: Execution; readonly changed: boolean }> {
  return transact(db, async (inside) => {
    const row = await findRow(inside, caller, id)
    const before = toExecution(row)
    const changed = await decide(inside, before)
    // The run ended concurrently; its own end stands.
    const [now = row] = changed === undefined ? await inside.select().from(runs).where(eq(runs.id, id)) : [changed]
    if (changed !== undefined)
      await record(inside, caller, {
        action,
        subject: `execution:${id}`,
        before: { status: before.status, reason: before.reason, tool: before.toolName, caller: before.callerId },
        after: { status: now.status, ...(note === undefined ? {} : { note }) },
      })
    await inside.execute(sql`select pg_notify(${runChannel}, ${`${noticeOf(now)}:${id}`})`)
    return { execution: toExecution(now), changed: changed !== undefined }
  })
}

async function findRow(db: Db, { workspace }: Caller, id: string): Promise<Row> {
  const [row] = isUuid(id)
    ? await db
        .select()
        .from(runs)
        .where(and(eq(runs.id, id), eq(runs.workspaceId, workspace)))
    : []
  return mustExist(row, 'execution', id)
}

function noticeOf({ cancelRequested, status }: Row): string {
  if (cancelRequested && status === 'RUNNING') return 'cancel'
  return status === 'PENDING' ? 'queued' : 'changed'
}

/** Ends a run without a worker; requests cancellation of a running one. */
export async function cancelRun(
  db: Db,
  before: Execution,
  why: { readonly code: string; readonly message: string },
): Promise<Row | undefined> {
  if (isFinal(before.status)) throw notPossible(before, 'cancelled')
  const [ended] = await db
    .update(runs)
    .set({
      status: 'CANCELLED',
      errorCode: why.code,
      errorMessage: why.message,
      completedAt: sql`now()`,
      updatedAt: sql`now()`,
    })
    .where(
      and(eq(runs.id, before.id), or(eq(runs.status, 'PENDING'), and(eq(runs.status, 'RUNNING'), isNull(runs.worker)))),
    )
    .returning()
  if (ended !== undefined) return ended
  const [requested] = await db
    .update(runs)
    .set({ cancelRequested: true, updatedAt: sql`now()` })
    .where(and(eq(runs.id, before.id), eq(runs.status, 'RUNNING')))
    .returning()
  return requested
}

export async function decideRun(
  db: Db,
  before: Execution,
  { approve, note, queueMs, by }: ApprovalDecision & { readonly by: Caller },
): Promise<Row> {
  if (approve) await refuseInvalidKey(db, before, by)
  const rejection = { status: 'CANCELLED', errorCode: 'APPROVAL_REFUSED', completedAt: sql`now()` } as const
  const message = note === undefined ? 'The call was refused.' : `The call was refused: ${note}`
  const [row] = await db
    .update(runs)
    .set({
      ...(approve ? { reason: 'queued', expiresAt: after(queueMs) } : { ...rejection, errorMessage: message }),
      decidedBy: by.actor,
      updatedAt: sql`now()`,
    })
    .where(and(eq(runs.id, before.id), eq(runs.status, 'PENDING'), eq(runs.reason, 'approval')))
    .returning()
  if (row === undefined) throw notPossible(before, approve ? 'approved' : 'refused')
  return row
}

/** Rejects the approval of a call whose key is invalid, because no worker would start it. */
async function refuseInvalidKey(db: Db, { id, callerId }: Execution, { workspace }: Caller): Promise<void> {
  const isInvalid = or(isNotNull(apiKeys.revokedAt), lte(apiKeys.expiresAt, sql`now()`))
  const isOfCaller = eq(sql`'key:' || ${apiKeys.name}`, callerId)
  const [key] = await db
    .select({ name: apiKeys.name, revokedAt: apiKeys.revokedAt })
    .from(apiKeys)
    .where(and(eq(apiKeys.workspaceId, workspace), isOfCaller, isInvalid))
  if (key === undefined) return
  const state = key.revokedAt === null ? 'has expired' : 'was revoked'
  throw new TooldexError('ILLEGAL_STEP', `The execution ${id} cannot be approved: its key '${key.name}' ${state}.`, {
    hint: 'Refuse it; its caller can call again with a valid key.',
  })
}

const notPossible = ({ id, status, reason }: Execution, step: string): TooldexError => {
  const state = reason === null ? status : `${status} (${reason})`
  return new TooldexError('ILLEGAL_STEP', `The execution ${id} is ${state} and can no longer be ${step}.`)
}
