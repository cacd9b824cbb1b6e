import { and, desc, eq, sql } from 'drizzle-orm'
import { TooldexError } from '../base/errors.ts'
import { storableJson } from '../base/storable.ts'
import type { ReplayReport } from '../contract/replay.ts'
import type { Caller, Page, PageQuery, Proposal, ProposalDraft, ProposalStore } from '../contract/stores.ts'
import type { Db } from './database.ts'
import { guard, transact } from './guard.ts'
import type { Cursors } from './page.ts'
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
    return this.#change(async (db) => {
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

  list(workspace: string, toolId: string, { limit, cursor }: PageQuery): Promise<Page<Proposal>> {
    return guard(async () => {
      const cursors = await this.#cursors()
      const list = ['proposals', workspace, toolId]
      const position = cursors.read(list, cursor)
      const rows = await this.#db
        .select()
        .from(toolProposals)
        .where(
          and(
            eq(toolProposals.workspaceId, workspace),
            eq(toolProposals.toolId, toolId),
            position &&
              sql`(${toolProposals.createdAt}, ${toolProposals.id}) < (${sql.param(new Date(position.value), toolProposals.createdAt)}, ${position.id}::uuid)`,
          ),
        )
        .orderBy(desc(toolProposals.createdAt), desc(toolProposals.id))
        .limit(limit + 1)
      const items = rows.slice(0, limit).map(toProposal)
      const last = items.at(-1)
      if (rows.length <= limit || last === undefined) return { items }
      return { items, nextCursor: cursors.write(list, { value: last.createdAt, id: last.id }) }
    })
  }

  decide(caller: Caller, id: string, { status, note, version }: Parameters<ProposalStore['decide']>[2]) {
    return this.#change(async (db) => {
      const before = await find(db, caller.workspace, id)
      if (before === undefined) throw new TooldexError('NOT_FOUND', `Unknown proposal: ${id.slice(0, 200)}.`)
      const [row] = await db
        .update(toolProposals)
        .set({
          status,
          decision: note ?? null,
          decidedBy: caller.actor,
          decidedAt: sql`now()`,
          acceptedVersion: version ?? null,
          updatedAt: sql`now()`,
        })
        .where(and(eq(toolProposals.id, before.id), eq(toolProposals.status, 'OPEN')))
        .returning()
      if (row === undefined)
        throw new TooldexError('ILLEGAL_STEP', `The proposal is ${before.status} and can no longer be decided.`)
      const action = status === 'ACCEPTED' ? 'proposal.accept' : 'proposal.refuse'
      const about = await aboutTool(db, before.toolId)
      await record(db, caller, {
        action,
        subject: `proposal:${before.id}`,
        before: { ...about, status: 'OPEN', baseVersion: before.baseVersion },
        after: { ...about, status, change: before.change, version, note },
      })
      return toProposal(row)
    })
  }

  keepReplay(caller: Caller, id: string, report: ReplayReport) {
    return this.#change(async (db) => {
      const before = await find(db, caller.workspace, id)
      if (before === undefined) throw new TooldexError('NOT_FOUND', `Unknown proposal: ${id.slice(0, 200)}.`)
      const [row] = await db
        .update(toolProposals)
        .set({ replay: sql`${storableJson(report)}::json`, updatedAt: sql`now()` })
        .where(and(eq(toolProposals.id, before.id), eq(toolProposals.status, 'OPEN')))
        .returning()
      if (row === undefined)
        throw new TooldexError('ILLEGAL_STEP', `The proposal is ${before.status} and can no longer be replayed.`)
      const { runs: _runs, ...counts } = report
      await record(db, caller, { action: 'proposal.replay', subject: `proposal:${before.id}`, after: counts })
      return toProposal(row)
    })
  }

  #change<Result>(work: (db: Db) => Promise<Result>): Promise<Result> {
    return transact(this.#db, work)
  }
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
