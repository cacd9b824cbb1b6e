import { and, desc, eq, sql } from 'drizzle-orm'
import type { PgUpdateSetSource } from 'drizzle-orm/pg-core'
import { mustExist, TooldexError } from '../base/errors.ts'
import type { Caller, PageQuery, Proposal, ProposalDraft, ProposalStore } from '../contract/stores.ts'
import type { ReplayReport } from '../contract/tool-diff.ts'
import { storableJson } from '../rules/storable.ts'
import type { Db } from './database.ts'
import { guard, transact } from './guard.ts'
import { type Cursors, isBeyondPosition, readRowPage } from './page.ts'
import { record } from './record.ts'
import { isUuid, toIso } from './rows.ts'
import { toolProposals, tools } from './schema.ts'

/** Proposals in the database. */
export class DatabaseProposalStore implements ProposalStore {
  readonly #db: Db
  readonly #cursors: () => Promise<Cursors>

  constructor(db: Db, cursors: () => Promise<Cursors>) {
    this.#db = db
    this.#cursors = cursors
  }

  create(caller: Caller, { toolId, baseVersion, change, reason, changelog }: ProposalDraft) {
    return transact(this.#db, async (db) => {
      const { workspace: workspaceId, actor: createdBy } = caller
      const [row] = await db
        .insert(toolProposals)
        .values({ workspaceId, createdBy, toolId, baseVersion, change, reason, changelog })
        .returning()
      const proposal = toProposal(row as typeof toolProposals.$inferSelect)
      const after = {
        ...(await aboutTool(db, toolId)),
        status: proposal.status,
        baseVersion,
        change,
        reason,
        changelog,
      }
      await record(db, caller, { action: 'proposal.create', subject: `proposal:${proposal.id}`, after })
      return proposal
    })
  }

  get(workspace: string, id: string) {
    return guard(() => find(this.#db, workspace, id))
  }

  list(workspace: string, toolId: string, query: PageQuery) {
    const { createdAt: column, id } = toolProposals
    const own = [eq(toolProposals.workspaceId, workspace), eq(toolProposals.toolId, toolId)]
    return guard(async () =>
      readRowPage(await this.#cursors(), {
        ...query,
        list: ['proposals', workspace, toolId],
        read: (position, maxRows) =>
          this.#db
            .select()
            .from(toolProposals)
            .where(and(...own, isBeyondPosition(position, { column, id })))
            .orderBy(desc(column), desc(id))
            .limit(maxRows),
        toItem: toProposal,
        toPosition: (row) => ({ value: row.createdAt, id: row.id }),
      }),
    )
  }

  decide(caller: Caller, id: string, { status, note, version }: Parameters<ProposalStore['decide']>[2]) {
    return transact(this.#db, async (db) => {
      const { before, after } = await changeOpen(db, caller, id, 'decided', {
        status,
        decision: note ?? null,
        decidedBy: caller.actor,
        decidedAt: sql`now()`,
        acceptedVersion: version ?? null,
      })
      const action = status === 'ACCEPTED' ? 'proposal.accept' : 'proposal.refuse'
      const about = await aboutTool(db, before.toolId)
      await record(db, caller, {
        action,
        subject: `proposal:${before.id}`,
        before: { ...about, status: 'OPEN', baseVersion: before.baseVersion },
        after: { ...about, status, change: before.change, version, note },
      })
      return after
    })
  }

  keepReplay(caller: Caller, id: string, report: ReplayReport) {
    return transact(this.#db, async (db) => {
      const replay = sql`${storableJson(report)}::json`
      const { after } = await changeOpen(db, caller, id, 'replayed', { replay })
      const { runs: _runs, ...counts } = report
      await record(db, caller, { action: 'proposal.replay', subject: `proposal:${after.id}`, after: counts })
      return after
    })
  }
}

/** Changes a proposal that must be open. */
async function changeOpen(
  db: Db,
  { workspace }: Caller,
  id: string,
  step: string,
  values: PgUpdateSetSource<typeof toolProposals>,
): Promise<Record<'before' | 'after', Proposal>> {
  const before = mustExist(await find(db, workspace, id), 'proposal', id)
  const [row] = await db
    .update(toolProposals)
    .set({ ...values, updatedAt: sql`now()` })
    .where(and(eq(toolProposals.id, before.id), eq(toolProposals.status, 'OPEN')))
    .returning()
  if (row !== undefined) return { before, after: toProposal(row) }
  throw new TooldexError('ILLEGAL_STEP', `The proposal is ${before.status} and can no longer be ${step}.`)
}

/** The name and id of the tool, for the audit log. */
async function aboutTool(db: Db, toolId: string) {
  const [row] = await db.select({ name: tools.name }).from(tools).where(eq(tools.id, toolId))
  return { tool: row?.name, toolId }
}

async function find(db: Db, workspace: string, id: string): Promise<Proposal | undefined> {
  if (!isUuid(id)) return undefined
  const [row] = await db
    .select()
    .from(toolProposals)
    .where(and(eq(toolProposals.workspaceId, workspace), eq(toolProposals.id, id)))
  return row === undefined ? undefined : toProposal(row)
}

function toProposal(row: typeof toolProposals.$inferSelect): Proposal {
  const { workspaceId: _workspace, updatedAt: _updated, change, createdAt, decidedAt, ...rest } = row
  return { ...rest, change, createdAt: createdAt.toISOString(), decidedAt: toIso(decidedAt) }
}
