import { and, eq, inArray, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/pg-core'
import type { ClaimedExecution } from '../../contract/execution.ts'
import type { RunnableTool } from '../../contract/executor.ts'
import type { ToolRule } from '../../contract/policy.ts'
import { normalizeTags } from '../../rules/normalize-tags.ts'
import { findTightening, findUnboundArgument, withLatestProtection } from '../../rules/protection.ts'
import { toRunnableTool } from '../../rules/runnable-tool.ts'
import { type Db, rowsOfResult } from '../database.ts'
import { toTool, toVersion } from '../rows.ts'
import { apiKeys, tools, toolVersions } from '../schema.ts'
import { toolExecutions } from '../schema-runs.ts'
import { type RunRules, readRunRules } from './claim-rules.ts'
import { toExecution } from './rows.ts'

/** Takes runs from the queue; concurrent claims never return the same run. */
export async function claimExecutions(
  db: Db,
  worker: string,
  { limit, labels, leaseMs }: { limit: number; labels: readonly string[]; leaseMs: number },
): Promise<readonly ClaimedExecution[]> {
  const which = sql.join(
    labels.map((label) => sql`${label}`),
    sql`, `,
  )
  const taken = rowsOfResult<{ id: string }>(
    await db.execute(sql`
      with picked as materialized (
        select id from tool_executions
        where label in (${which}) and worker is null and status in ('PENDING', 'RUNNING')
          and coalesce(reason, 'queued') = 'queued' and not cancel_requested
        order by turn, created_at limit ${limit}::int for update skip locked
      )
      update tool_executions run set status = 'RUNNING', worker = ${worker}, attempt = run.attempt + 1,
        started_at = coalesce(run.started_at, now()), lease_until = now() + (coalesce(run.timeout_ms, 0) + ${leaseMs}::float8) * interval '1 millisecond',
        updated_at = now()
      from picked where run.id = picked.id returning run.id`),
  )
  if (taken.length === 0) return []
  const ids = taken.map(({ id }) => id)
  const rows = await db
    .select({ run: toolExecutions, tool: tools, version: toolVersions, latestAt: latest.createdAt, hasInvalidKey })
    .from(toolExecutions)
    .leftJoin(tools, eq(tools.id, toolExecutions.toolId))
    .leftJoin(
      toolVersions,
      and(eq(toolVersions.toolId, toolExecutions.toolId), eq(toolVersions.version, toolExecutions.version)),
    )
    .leftJoin(latest, and(eq(latest.toolId, tools.id), latest.isLatest))
    .leftJoin(
      apiKeys,
      and(
        eq(apiKeys.workspaceId, toolExecutions.workspaceId),
        eq(sql`'key:' || ${apiKeys.name}`, toolExecutions.callerId),
      ),
    )
    .where(inArray(toolExecutions.id, ids))
    .orderBy(toolExecutions.turn, toolExecutions.createdAt)
  const rulesFor = await readRunRules(
    db,
    rows.map(({ run }) => run),
  )
  return rows.map((row) => toClaimed(row, rulesFor))
}

const latest = alias(toolVersions, 'latest')
const hasInvalidKey = sql<boolean>`coalesce(${apiKeys.revokedAt} is not null or ${apiKeys.expiresAt} <= now(), false)`

interface Row {
  readonly run: typeof toolExecutions.$inferSelect
  readonly tool: typeof tools.$inferSelect | null
  readonly version: typeof toolVersions.$inferSelect | null
  /** The creation time of the latest version. */
  readonly latestAt: Date | null
  /** Whether the key of the caller was revoked or has expired. */
  readonly hasInvalidKey: boolean
}

type Claim = Pick<ClaimedExecution, 'execution' | 'workspace' | 'traceparent' | 'isLimited'>

/** Applies the current state to a run that waited: the key of its caller, the status of its tool, its protection and the policies. */
function toClaimed(row: Row, rulesFor: RunRules): ClaimedExecution {
  const { run, tool, version } = row
  const { workspaceId: workspace, traceparent } = run
  const claim = { execution: toExecution(run), workspace, traceparent, isLimited: run.limits !== null }
  if (row.hasInvalidKey)
    return refused(
      claim,
      'EXECUTION_CANCELLED',
      'was called with a key that expired or was revoked before the call started',
    )
  if (run.definition !== null) return claimConfigured(claim, run, rulesFor)
  if (tool === null || version === null) return refused(claim, 'TOOL_NOT_FOUND', 'was deleted before it could run')
  if (run.purpose === null && tool.status !== 'ACTIVE' && tool.status !== 'DEPRECATED')
    return refused(claim, 'TOOL_DISABLED', `is ${tool.status} now`)
  const { name, namespace, tags, categoryId } = toTool(tool)
  const rules = rulesFor(run, { name, namespace, tags: normalizeTags(tags), categoryId })
  if (rules === undefined) return refused(claim, 'TOOL_NOT_FOUND', hidden)
  return claimRegistered(claim, { ...row, tool, version }, rules)
}

function claimRegistered(
  claim: Claim,
  { run, tool, version, latestAt }: Row & { [Key in 'tool' | 'version']: NonNullable<Row[Key]> },
  rules: readonly ToolRule[],
): ClaimedExecution {
  const now = toTool(tool)
  const content = { ...now, ...toVersion(version).content, version: version.version }
  const unbound = findUnboundArgument(content, now, rules)
  if (unbound !== undefined)
    return refused(
      claim,
      'POLICY_REFUSED',
      `has no argument '${unbound}' in version ${version.version}, which a policy bounds now`,
    )
  const protectedTool = withLatestProtection(content, now)
  const runnable = toRunnableTool(protectedTool, rules)
  if (needsApproval(run, runnable, rules)) return refused(claim, 'APPROVAL_NEEDED', approvalNeeded)
  // Earlier protections were checked with the scopes of the caller at the time of the call.
  const isNewer = latestAt !== null && latestAt > run.createdAt
  const tightening = isNewer ? findTightening(protectedTool, now) : undefined
  if (tightening !== undefined)
    return refused(claim, 'FORBIDDEN', `${tightening} since version ${now.version}; call it again`)
  return { ...claim, refusal: undefined, tool: runnable }
}

function claimConfigured(claim: Claim, run: Row['run'], rulesFor: RunRules): ClaimedExecution {
  const tool = run.definition as RunnableTool
  const rules = rulesFor(run, { name: tool.name, namespace: tool.config })
  if (rules === undefined) return refused(claim, 'TOOL_NOT_FOUND', hidden)
  if (needsApproval(run, tool, rules)) return refused(claim, 'APPROVAL_NEEDED', approvalNeeded)
  if (rules.length === 0) return { ...claim, refusal: undefined, tool }
  const constraints = [...(tool.constraints ?? []), ...rules.map(({ args }) => args)]
  return { ...claim, refusal: undefined, tool: { ...tool, constraints } }
}

const hidden = 'is hidden by a policy or its toolset now'
const approvalNeeded = 'needs approval of each call now; call it again'

/** Whether a run needs an approval that was not required at the time of the call. */
const needsApproval = (run: Row['run'], { annotations }: RunnableTool, rules: readonly ToolRule[]): boolean =>
  run.purpose === null &&
  run.decidedBy === null &&
  (annotations?.requiresApproval === true || rules.some(({ requireApproval }) => requireApproval === true))

const refused = (claim: Claim, code: string, why: string): ClaimedExecution => ({
  ...claim,
  tool: undefined,
  refusal: { code, message: `${claim.execution.toolName} ${why}.` },
})
