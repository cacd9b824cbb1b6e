import * as z from 'zod'
import { mustExist, TooldexError } from '../../base/errors.ts'
import { omitUndefined, sameJson, sameOrderedJson } from '../../base/json-values.ts'
import { yieldTurns } from '../../base/yield-turns.ts'
import { asStored } from '../../contract/as-stored.ts'
import { type RegisteredTool, ToolChange, type ToolContent } from '../../contract/registry.ts'
import type { Proposal } from '../../contract/stores.ts'
import { ReplayCounts, ReplayReport, ToolDiff } from '../../contract/tool-diff.ts'
import { below } from '../../diagnostics/finding.ts'
import { refuseWithoutReplay } from '../checks/replay-gate.ts'
import { diffToolInThread } from '../checks/tool-threads.ts'
import { defineOperation, type OperationContext } from '../operation.ts'
import { replayRuns } from '../runs/replay.ts'
import { policiesOf } from '../search/tool-view.ts'
import { Changelog, DecisionNote, ExpectedVersion, IdOrName, pageOf, paging } from './inputs.ts'
import {
  checkContent,
  contentFields,
  findRegistered,
  findToValidate,
  nameToChange,
  refuseCodeWithoutAdmin,
  refuseInvalidTool,
  withChange,
} from './registry.ts'
import { changeRegisteredTool, WrittenTool, withWarnings, writeWarnings } from './written-tool.ts'

const tag = 'proposals'

/** A change that is not in force, and its effects. */
const ProposalInfo = z.object({
  id: z.guid(),
  toolId: z.guid(),
  status: z.enum(['OPEN', 'ACCEPTED', 'REFUSED']),
  baseVersion: z.int(),
  change: asStored(ToolChange),
  reason: z.string().nullable(),
  changelog: z.string().nullable(),
  createdAt: z.string(),
  createdBy: z.string().nullable(),
  decidedAt: z.string().nullable(),
  decidedBy: z.string().nullable(),
  decision: z.string().nullable(),
  acceptedVersion: z.int().nullable(),
  replay: ReplayCounts.nullable().describe(
    'The result of the replay; reading the proposal by its id returns each run.',
  ),
  diff: ToolDiff.optional().describe('Against the current tool; after a decision, against the version before it.'),
})

/** Proposes a change. */
export const proposeChange = defineOperation({
  name: 'proposals.create',
  summary: 'Propose a change of a tool without applying it.',
  subject: 'proposal',
  scope: 'write',
  needs: ['catalog', 'registry'],
  http: { method: 'post', path: '/tools/{idOrName}/proposals', status: 201, tag },
  input: z.strictObject({
    idOrName: IdOrName,
    change: ToolChange,
    reason: z.string().max(2000).optional(),
    changelog: Changelog.optional(),
  }),
  output: ProposalInfo.extend(writeWarnings),
  async handle({ idOrName, change, reason, changelog }, context) {
    const tool = await findRegistered(context, await nameToChange(context, idOrName))
    const next = withChange(tool, change)
    const problems = await refuseInvalidTool(context, next, '/change')
    if (sameOrderedJson(contentFields(tool), contentFields(next)))
      throw new TooldexError('INPUT_INVALID', `Nothing to change: ${tool.name} already has these values.`)
    const draft = {
      toolId: tool.id,
      baseVersion: tool.version,
      change: omitUndefined(change) as Partial<ToolContent>,
      reason,
      changelog,
    }
    const proposal = await context.registry.stores.proposals.create(context.caller, draft)
    return withWarnings(await withDiff(context, proposal, tool), problems)
  },
  async validateRemainder({ idOrName, change }, context) {
    const tool = await findToValidate(context, idOrName)
    return tool === undefined ? [] : below('/change', await checkContent(context, withChange(tool, change)))
  },
})

/** Lists proposals. */
export const listProposals = defineOperation({
  name: 'proposals.list',
  summary: 'List the proposals for a tool, newest first.',
  scope: 'read',
  needs: ['catalog', 'registry'],
  http: { method: 'get', path: '/tools/{idOrName}/proposals', tag },
  input: z.object({ idOrName: IdOrName, ...paging }),
  output: pageOf(ProposalInfo),
  async handle({ idOrName, ...query }, context) {
    const tool = await findRegistered(context, idOrName)
    const page = await context.registry.stores.proposals.list(context.caller.workspace, tool.id, query)
    const items: Awaited<ReturnType<typeof withDiff>>[] = []
    const turn = yieldTurns(context.signal)
    for (const proposal of page.items) {
      items.push(await withDiff(context, proposal, tool))
      await turn()
    }
    return { ...page, items }
  },
})

/** Reads a proposal. */
export const getProposal = defineOperation({
  name: 'proposals.get',
  summary: 'Read a proposal, with the replay of each recorded input.',
  scope: 'read',
  needs: ['catalog', 'registry'],
  http: { method: 'get', path: '/proposals/{id}', tag },
  input: z.object({ id: z.string().max(100) }),
  output: ProposalInfo.extend({ replay: ReplayReport.nullable() }),
  async handle({ id }, context) {
    const proposal = await findProposal(context, id)
    const tool = await findRegistered(context, proposal.toolId)
    return { ...(await withDiff(context, proposal, tool)), replay: proposal.replay }
  },
})

/** Replays a proposal. */
export const replayProposal = defineOperation({
  name: 'proposals.replay',
  summary: 'Replay recorded inputs of a read-only tool against a proposal, and return the differences.',
  scope: 'write',
  needs: ['catalog', 'registry', 'runs'],
  // A replay may run a hundred inputs.
  http: { method: 'post', path: '/proposals/{id}/replay', tag, deadlineMs: 600_000 },
  input: z.strictObject({
    id: z.string().max(100),
    limit: z.int().min(1).max(100).default(20).describe('Maximum number of distinct inputs, newest first.'),
  }),
  output: ReplayReport,
  async handle({ id, limit }, context) {
    const proposal = await findProposal(context, id)
    const tool = await findRegistered(context, proposal.toolId)
    if (proposal.status !== 'OPEN')
      throw new TooldexError('ILLEGAL_STEP', `The proposal is ${proposal.status}, so it can no longer be replayed.`)
    const next = withChange(tool, proposal.change)
    await refuseCodeWithoutAdmin(context, tool, next)
    await refuseInvalidTool(context, next)
    const versions = [...new Set([tool.version, proposal.baseVersion])]
    const runs = await replayRuns(context, tool, { next, versions, limit })
    const count = (outcome: string) => runs.filter((run) => run.outcome === outcome).length
    const counts = { same: count('same'), differs: count('differs'), failed: count('failed') }
    const about = { at: new Date().toISOString(), by: context.caller.actor, version: tool.version }
    const report = { ...about, ...counts, runs: [...runs] }
    await context.registry.stores.proposals.keepReplay(context.caller, id, report)
    return report
  },
})

/** Accepts a proposal. */
export const acceptProposal = defineOperation({
  name: 'proposals.accept',
  summary: 'Accept a proposal; this creates the next version.',
  scope: 'write',
  needs: ['catalog', 'registry'],
  http: { method: 'post', path: '/proposals/{id}/accept', tag },
  input: z.strictObject({
    id: z.string().max(100),
    note: DecisionNote.optional(),
    expectedVersion: ExpectedVersion.optional(),
  }),
  output: z.object({ proposal: ProposalInfo, tool: WrittenTool }),
  async handle({ id, note, expectedVersion }, context) {
    const proposal = await findProposal(context, id)
    const policies = await policiesOf(context)
    const newPolicies = await context.registry.stores.policies.changedSince(
      context.caller.workspace,
      proposal.createdAt,
    )
    return context.registry.stores.transaction(async (stores) => {
      const base = await stores.tools.version(context.caller.workspace, proposal.toolId, proposal.baseVersion)
      const tool = await changeRegisteredTool(context, proposal.toolId, {
        inside: { stores, policies },
        make(current) {
          if (expectedVersion === undefined && base !== undefined) refuseOverwriting(proposal, base.content, current)
          return withChange(current, proposal.change)
        },
        gate: (edit) => refuseWithoutReplay(edit, proposal),
        proposal: { createdBy: proposal.createdBy, base: base?.content, newPolicies },
        options: { changelog: proposal.changelog ?? proposal.reason ?? undefined, expectedVersion },
      })
      const decision = { status: 'ACCEPTED', version: tool.version, ...(note === undefined ? {} : { note }) } as const
      return { proposal: toInfo(await stores.proposals.decide(context.caller, id, decision)), tool }
    })
  },
})

/** Refuses a proposal. */
export const refuseProposal = defineOperation({
  name: 'proposals.refuse',
  summary: 'Refuse a proposal; it remains readable.',
  scope: 'write',
  needs: ['registry'],
  http: { method: 'post', path: '/proposals/{id}/refuse', tag },
  input: z.strictObject({ id: z.string().max(100), note: DecisionNote.optional() }),
  output: ProposalInfo,
  async handle({ id, note }, context) {
    await findProposal(context, id)
    const decision = { status: 'REFUSED', ...(note === undefined ? {} : { note }) } as const
    return toInfo(await context.registry.stores.proposals.decide(context.caller, id, decision))
  },
})

async function findProposal(context: OperationContext<'registry'>, id: string): Promise<Proposal> {
  const proposal = await context.registry.stores.proposals.get(context.caller.workspace, id)
  return mustExist(proposal, 'proposal', id)
}

const toInfo = ({ replay, ...proposal }: Proposal): z.output<typeof ProposalInfo> => {
  if (replay === null) return { ...proposal, replay }
  const { runs: _runs, ...counts } = replay
  return { ...proposal, replay: counts }
}

/** Adds the diff against the current tool or, once the proposal is decided, against the version it was decided on. */
async function withDiff(context: OperationContext<'registry'>, proposal: Proposal, tool: RegisteredTool) {
  const { status, change, baseVersion, acceptedVersion } = proposal
  const on = acceptedVersion === null ? baseVersion : acceptedVersion - 1
  const { workspace } = context.caller
  const before =
    status === 'OPEN' ? tool : (await context.registry.stores.tools.version(workspace, tool.id, on))?.content
  if (before === undefined) return toInfo(proposal)
  const diff = await diffToolInThread(contentFields(before), withChange(before, change), context.signal)
  return { ...toInfo(proposal), diff }
}

/** Rejects a proposal that would overwrite later changes, unless the caller confirms the current version. */
function refuseOverwriting({ change, baseVersion }: Proposal, base: ToolContent, current: RegisteredTool): void {
  const fields = Object.keys(change) as (keyof ToolContent)[]
  const lost = fields.filter(
    (field) => !sameJson(base[field], current[field]) && !sameJson(change[field], current[field]),
  )
  if (lost.length === 0) return
  const since = `was changed since the proposal was made from version ${baseVersion}`
  const hint = `Review its diff; to accept it anyway, confirm ${current.version} as the expected version (over HTTP, If-Match: "${current.version}").`
  throw new TooldexError('STALE', `${current.name}: ${lost.join(', ')} ${since}.`, { hint })
}
